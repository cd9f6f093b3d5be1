import {
  asList,
  asObject,
  asText,
  isObject,
  plainText,
  type JsonObject,
  type JsonValue,
} from './json-text.js';

export type Schema = JsonObject;

/** A member of an object's schema. */
export interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
}

/** The schemas of a document, and what they say in words. */
export class Schemas {
  readonly #root: JsonObject;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  /** Those that have a name, in the document's order. */
  named(): ReadonlyArray<readonly [name: string, schema: Schema]> {
    const schemas = asObject(asObject(this.#root['components'])['schemas']);
    return Object.entries(schemas).map(([name, schema]) => [name, asObject(schema)]);
  }

  /** What a reference means; anything else is itself. What stands beside a reference goes before what it means. */
  resolve(value: JsonValue | undefined): JsonObject {
    const { $ref, ...beside } = asObject(value);
    if (typeof $ref !== 'string') return beside;
    const names = $ref.replace(/^#\/?/, '').split('/');
    const found = names.reduce<JsonObject>((parent, name) => {
      const member = decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
      return Object.hasOwn(parent, member) ? asObject(parent[member]) : {};
    }, this.#root);
    return { ...this.resolve(found), ...beside };
  }

  /** The name of the schema that is referred to. */
  nameOf(schema: Schema): string | undefined {
    const { $ref } = schema;
    return typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined;
  }

  /** What kind of value it is: `integer (int64)`, `array of Pet`. */
  kind(schema: Schema): string {
    const { type, format, items } = this.resolve(schema);
    if (type === 'array') return `array of ${this.nameOf(asObject(items)) ?? this.kind(asObject(items))}`;
    const types = typeof type === 'string' ? type : asList(type).map(plainText).join(' or ');
    return typeof format === 'string' ? `${types} (${format})` : types;
  }

  /** The members that an object has, those of all its parts; the first that tells of a member counts. */
  fields(schema: Schema): readonly Field[] {
    const parts = this.#parts(schema);
    const required = new Set(parts.flatMap((part) => asList(part['required'])));
    const properties = parts.flatMap((part) => Object.entries(asObject(part['properties'])));
    return [...new Map(properties.toReversed())]
      .toReversed()
      .map(([name, field]) => ({ name, required: required.has(name), schema: asObject(field) }));
  }

  /** The schema, and all that its values are by `allOf`. */
  #parts(schema: Schema): readonly Schema[] {
    const resolved = this.resolve(schema);
    return [resolved, ...asList(resolved['allOf']).flatMap((part) => this.#parts(asObject(part)))];
  }

  /** The values that a schema is limited to, as they stand in a URL. */
  choices(schema: Schema): readonly string[] {
    const { enum: choices, const: only } = this.resolve(schema);
    return only === undefined ? asList(choices).map(plainText) : [plainText(only)];
  }

  /** What is said of its values besides, in words. */
  limits(schema: Schema): readonly string[] {
    const {
      minimum,
      maximum,
      minLength,
      maxLength,
      minItems,
      maxItems,
      default: fallback,
    } = this.resolve(schema);
    const choices = this.choices(schema);
    return [
      ...(choices.length > 0
        ? [choices.length === 1 ? `always ${choices[0]}` : `one of ${choices.join(', ')}`]
        : []),
      ...range(minimum, maximum),
      ...range(minLength, maxLength, 'character'),
      ...range(minItems, maxItems, 'item'),
      ...(fallback === undefined ? [] : [`${plainText(fallback)} when left out`]),
    ];
  }

  /** A regular expression that its values match. */
  pattern(schema: Schema): string {
    return asText(this.resolve(schema)['pattern']);
  }

  /** Examples of its values, those of the items for a list that has none. */
  examples(schema: Schema): readonly JsonValue[] {
    const { example, examples, const: only, items } = this.resolve(schema);
    const own = [example ?? only, ...asList(examples)].filter((found) => found !== undefined);
    if (own.length > 0 || !isObject(items)) return own;
    const ofItems = this.examples(items);
    return ofItems.length > 0 ? [ofItems] : [];
  }
}

function range(least: JsonValue | undefined, most: JsonValue | undefined, unit?: string): readonly string[] {
  const of = (end: JsonValue): string => {
    const text = plainText(end).replace('-', '−');
    if (unit === undefined) return text;
    return `${text} ${unit}${text === '1' ? '' : 's'}`;
  };
  if (least !== undefined && most !== undefined)
    return [`from ${plainText(least).replace('-', '−')} to ${of(most)}`];
  if (least !== undefined) return [`at least ${of(least)}`];
  return most === undefined ? [] : [`at most ${of(most)}`];
}
