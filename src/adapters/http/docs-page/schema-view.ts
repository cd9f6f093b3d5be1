import { colored, element, line, prose } from './element.js';
import { layOut, readTokens } from './json-text.js';
import type { Schema, Schemas } from './schema-text.js';

/** Where on the page a named schema is. */
const schemaAnchor = (name: string): string => `schema-${name}`;

/** What a schema is called, with a link to all that is said of it. */
export function schemaName(schema: Schema, schemas: Schemas): HTMLElement {
  const name = schemas.nameOf(schema);
  return name === undefined
    ? element('span', {}, schemas.kind(schema))
    : element('a', { href: `#${schemaAnchor(name)}` }, name);
}

/** What a value is and what is asked of it, in one paragraph. */
export function valueText(schema: Schema, schemas: Schemas): HTMLElement {
  const pattern = schemas.pattern(schema);
  return element(
    'p',
    { class: 'hint' },
    [schemas.kind(schema), ...schemas.limits(schema)].filter((part) => part !== '').join('; '),
    pattern === '' ? [] : ['; matches ', element('code', {}, pattern)],
  );
}

/** An example, laid out in lines, its numbers to the digit. */
export const exampleView = (text: string): HTMLElement =>
  element('pre', {}, element('code', {}, colored(layOut(readTokens(text) ?? []))));

/** All that is said of a named schema. */
export function schemaView(name: string, schema: Schema, schemas: Schemas): HTMLElement {
  const { description } = schemas.resolve(schema);
  const fields = schemas.fields(schema);
  const title = element('h3', { id: `${schemaAnchor(name)}-title` }, name);
  return element(
    'article',
    { id: schemaAnchor(name), class: 'schema', 'aria-labelledby': title.id },
    title,
    typeof description === 'string' ? prose(description) : [],
    fields.length === 0
      ? valueText(schema, schemas)
      : element(
          'dl',
          { class: 'members' },
          fields.map(({ name: field, required, schema: value }) => {
            const about = schemas.resolve(value)['description'];
            return element(
              'div',
              {},
              element(
                'dt',
                {},
                element('code', {}, field),
                element('span', { class: 'hint' }, required ? 'required' : 'may be left out'),
              ),
              element(
                'dd',
                {},
                typeof about === 'string' ? element('p', {}, line(about)) : [],
                valueText(value, schemas),
              ),
            );
          }),
        ),
  );
}
