import { stringify } from '../../../exact-json.js';
import type { HttpSettings } from '../http-settings.js';
import type { Operation, Parameter } from '../operations.js';
import { markup, prose, statusView, type Content, type Markup } from './markup.js';
import { keywordsOf, membersView, schemaName, valueText } from './schema-view.js';

/** An operation: what it does, its body, its responses, and a form to try it. */
export function operationView(id: string, operation: Operation, settings: HttpSettings): Markup {
  const { method, path, summary, description, stability, deprecation, scope } = operation;
  return markup`<article class="operation" id="${id}" aria-labelledby="${id}-title">
  <div>
    <h2><span id="${id}-title">${summary}</span> ${stability && markup`<span class="hint">${stability}</span>`}</h2>
    <p><code><b>${method}</b> ${settings.basePath}${path}</code> <span class="hint">operation <code>${id}</code></span></p>
    ${deprecation && markup`<p class="note"><strong>Deprecated, to be removed on ${deprecation.sunset.toISOString().slice(0, 10)}.</strong> ${prose(deprecation.advice)}</p>`}
    <p>${prose(description)}</p>
    <p>The API key needs the scope <code>${scope}</code>.</p>
    ${bodyView(operation)}
    ${responsesView(operation)}
  </div>
  ${formView(id, operation)}
</article>`;
}

const bodyView = ({ body }: Operation): Content =>
  body &&
  markup`<h3 id="${schemaName(body.schema)}">Body: ${schemaName(body.schema)}</h3>
  <p>${prose(body.description)}</p>
  ${membersView(body.schema)}`;

const responsesView = ({ success, errors }: Operation): Markup => markup`<h3>Responses</h3>
  <p>${statusView(success.status)} ${prose(success.description)}${success.schema && [' Body: ', link(schemaName(success.schema)), '.']}</p>
  <p>Errors beside those of every operation: ${errors.map((code, index) => [index > 0 && ', ', link(code)])}.</p>`;

const link = (id: string): Markup => markup`<a href="#${id}"><code>${id}</code></a>`;

/** The parameters and the body as a form that sends a request, the response, and the same request as a sample. */
const formView = (
  id: string,
  { summary, method, path, body, parameters }: Operation,
): Markup => markup`<section class="try" aria-label="Try it: ${summary}">
  <h3>Try it</h3>
  <form autocomplete="off" data-method="${method}" data-path="${path}">
    ${Object.entries(parameters).map(([name, parameter]) => fieldView(`${id}-${name}`, name, parameter))}
    ${body && bodyFieldView(`${id}-body`, stringify(keywordsOf(body.schema).examples?.[0], 2))}
    <p><button class="send">Send</button></p>
  </form>
  <div class="response">
    <p role="status"></p>
    <pre class="body" tabindex="0" role="group" aria-label="Response body"></pre>
    <details><summary>Response headers</summary><pre class="headers"></pre></details>
  </div>
  <details open>
    <summary>curl</summary>
    <pre class="curl" tabindex="0" role="group" aria-label="curl sample"></pre>
  </details>
</section>`;

function fieldView(
  fieldId: string,
  name: string,
  { in: place, schema, example, description }: Parameter,
): Markup {
  const { enum: values, default: fallback } = keywordsOf(schema);
  const isRequired = place === 'path';
  const attributes = markup`id="${fieldId}" name="${name}" data-in="${place}" aria-describedby="${fieldId}-about"`;
  // Always text: a number field would round integers and hide what the service refuses.
  const field = values
    ? markup`<select ${attributes}><option value="">any</option>${values.map(
        (value) => markup`<option>${value}</option>`,
      )}</select>`
    : markup`<input ${attributes} value="${isRequired && String(example)}" placeholder="${fallback}" spellcheck="false" autocapitalize="off" ${isRequired && 'required'}>`;
  return markup`<div>
      <label for="${fieldId}">${name}</label> <span class="hint">${place}, ${isRequired ? 'required' : 'optional'}</span>
      ${field}
      <p class="hint" id="${fieldId}-about">${prose(description)}<br>${valueText(schema)}</p>
    </div>`;
}

const bodyFieldView = (fieldId: string, example: string): Markup => markup`<div>
      <label for="${fieldId}">Body</label>
      <textarea id="${fieldId}" name="body" rows="6" spellcheck="false" autocapitalize="off">
${example}</textarea>
    </div>`;
