import type { Keywords } from '../json-schema.js';
import { OPERATIONS, type Operation } from '../operations.js';
import { COMPONENTS } from '../schemas.js';
import { markup, prose, type Content, type Markup } from './markup.js';

const NAMED: Readonly<Record<string, Keywords>> = COMPONENTS;

/** The keywords of a schema, references resolved. */
export const keywordsOf = (schema: Keywords): Keywords => ({
  ...NAMED[schemaName(schema)],
  ...schema,
});

/** The name that a schema refers to, if it does. */
export const schemaName = ({ $ref = '' }: Keywords): string => $ref.replace(/.*\//, '');

/** All schemas that have a name, except those that an operation shows as its body. */
export function schemasView(): Content {
  const operations = Object.values<Operation>(OPERATIONS);
  const bodies = new Set(operations.map(({ body }) => body && schemaName(body.schema)));
  return Object.entries(NAMED)
    .filter(([name]) => !bodies.has(name))
    .map(
      ([name, schema]) => markup`<article id="${name}">
      <h3>${name}</h3>
      <p>${prose(schema.description ?? '')}</p>
      ${schema.properties ? membersView(schema) : markup`<p class="hint">${valueText(schema)}</p>`}
    </article>`,
    );
}

/** The members of an object. */
export function membersView(schema: Keywords): Markup {
  const { properties = {}, required = [] } = keywordsOf(schema);
  return markup`<dl class="members">${Object.entries(properties).map(([name, value]) => {
    const { description = '' } = keywordsOf(value);
    return markup`<div>
      <dt><code><b>${name}</b></code>
        <span class="hint">${required.includes(name) ? 'required' : 'optional'}</span></dt>
      <dd><p>${prose(description)}</p><p class="hint">${valueText(value)}</p></dd>
    </div>`;
  })}</dl>`;
}

const LIMITS = new Set(['minimum', 'maximum', 'minLength', 'maxLength', 'maxItems', 'default']);

/** The type and the limits of a value, in words. */
export function valueText(schema: Keywords): string {
  const keywords = keywordsOf(schema);
  const { type = '', format = type, items, enum: values } = keywords;
  const limits = Object.entries(keywords).filter(([keyword]) => LIMITS.has(keyword));
  return [
    items ? `${type} of ${schemaName(items)}` : format,
    ...(values ? [`one of ${values.join(', ')}`] : []),
    ...limits.map(([keyword, limit]) => `${keyword} ${String(limit)}`),
  ].join('; ');
}
