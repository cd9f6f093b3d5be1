import type { TSchema } from 'typebox';

/** JSON Schema keywords (2020-12). Their integers may be bigints, which `stringify` prints to the digit. */
export type Keywords = Readonly<Record<string, unknown>>;

/** Holds the keywords of a schema that TypeBox does not know by itself. */
export const KEYWORDS = Symbol('keywords');

/** Holds the name of a schema in the document's components. */
export const COMPONENT = Symbol('component');

/** A schema as the document uses it: a reference if it has a name, else written out. */
export function jsonSchema(schema: TSchema): Keywords {
  const component = componentName(schema);
  if (component === undefined) return componentSchema(schema);
  // Its enumerable keywords belong to this use of it.
  return { $ref: `#/components/schemas/${component}`, ...(KEYWORDS in schema && annotations(schema)) };
}

/** A schema written out. */
export function componentSchema(schema: TSchema): Keywords {
  if (componentName(schema) !== undefined && KEYWORDS in schema) return rule(schema);
  const { properties, items, ...keywords } = annotations(schema);
  return {
    ...rule(schema),
    ...keywords,
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties as Record<string, TSchema>).map(([name, of]) => [name, jsonSchema(of)]),
      ),
    }),
    ...(items !== undefined && { items: jsonSchema(items as TSchema) }),
  };
}

export const componentName = (schema: TSchema): string | undefined =>
  (schema as { [COMPONENT]?: string })[COMPONENT];

const rule = (schema: TSchema): Keywords => (schema as { [KEYWORDS]?: Keywords })[KEYWORDS] ?? {};

/** The enumerable keywords: without symbols, and without what TypeBox hides. */
const annotations = (schema: TSchema): Keywords => Object.fromEntries(Object.entries(schema));
