import type { TSchema } from 'typebox';

/** JSON Schema keywords (2020-12). Their integers may be bigints, which `stringify` prints to the digit. */
export type Keywords = Readonly<Record<string, unknown>>;

/** Under this a schema that is no more than a rule holds the keywords that say the rule to others. */
export const KEYWORDS = Symbol('keywords');

/** Under this a schema holds the name that the OpenAPI document gives it. */
export const COMPONENT = Symbol('component');

/** A schema as the document refers to it: one that has a name there by its name, any other spelled out. */
export function jsonSchema(schema: TSchema): Keywords {
  const component = componentName(schema);
  if (component === undefined) return componentSchema(schema);
  // Of a rule's schema, what stands in the open belongs to this use of it.
  return { $ref: `#/components/schemas/${component}`, ...(KEYWORDS in schema && annotations(schema)) };
}

/** A schema spelled out, whether it has a name or not. */
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

/** What a schema says in the open: without symbols, and without what TypeBox hides. */
const annotations = (schema: TSchema): Keywords => Object.fromEntries(Object.entries(schema));
