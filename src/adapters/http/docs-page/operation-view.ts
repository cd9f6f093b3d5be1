import { stringifyJson } from '../../../exact-json.js';
import { ERRORS, type ErrorCode, type ErrorDescription } from '../error-codes.js';
import type { HttpSettings } from '../http-settings.js';
import { errorExample, type Operation, type Parameter } from '../operations.js';
import { markup, methodView, prose, statusView, type Content, type Markup } from './markup.js';
import { keywordsOf, membersView, schemaName, valueText } from './schema-view.js';

/** An operation: what it does, its body, its responses, and a form to try it. */
export function operationView(id: string, operation: Operation, settings: HttpSettings): Markup {
  const { method, path, summary, description, stability, scope } = operation;
  return markup`<article class="operation" id="${id}" aria-labelledby="${id}-title">
  <div>
    <h2><span id="${id}-title">${summary}</span>
      ${stability && markup`<span class="hint">${stability}</span>`}</h2>
    <p>${methodView(method)} <code><b>${settings.basePath}${path}</b></code>
      <span class="hint">operation <code>${id}</code></span></p>
    ${deprecationView(operation)}
    <p>${prose(description)}</p>
    <p>The API key needs the scope <code>${scope}</code>.</p>
    ${bodyView(operation)}
    ${responsesView(operation, settings)}
  </div>
  ${formView(id, operation)}
</article>`;
}

const deprecationView = ({ deprecation }: Operation): Content =>
  deprecation &&
  markup`<p class="note">
      <strong>Deprecated, to be removed on ${deprecation.sunset.toISOString().slice(0, 10)}.</strong>
      ${prose(deprecation.advice)}</p>`;

const bodyView = ({ body }: Operation): Content =>
  body &&
  markup`<h3 id="${schemaName(body.schema)}">Body: ${schemaName(body.schema)}</h3>
  <p>${prose(body.description)}</p>
  ${membersView(body.schema)}`;

function responsesView(operation: Operation, settings: HttpSettings): Markup {
  const { status, description, schema } = operation.success;
  return markup`<h3>Responses</h3>
  <p>${statusView(status)} ${prose(description)}</p>
  ${schema && sampleView(keywordsOf(schema).examples?.[0])}
  ${operation.errors.map((code) => errorView(code, operation, settings))}
  <p class="hint">Every operation has <a href="#errors">more errors</a>.</p>`;
}

const sampleView = (value: unknown): Markup => markup`<pre>${stringifyJson(value, 2)}</pre>`;

/** An error: its status and code, and on demand what it means, with a sample. */
export function errorView(code: ErrorCode, operation: Operation, settings: HttpSettings): Markup {
  const { status, message, meaning = message }: ErrorDescription = ERRORS[code];
  return markup`<details>
    <summary>${statusView(status)} <code>${code}</code></summary>
    <p>${prose(meaning)}</p>
    ${sampleView(errorExample(code, operation, settings))}
  </details>`;
}

/** The parameters and the body as a form that sends a request, the response, and the same request as a sample. */
function formView(id: string, { summary, method, path, body, parameters }: Operation): Markup {
  const { header = [], other = [] } = Object.groupBy(Object.entries(parameters), ([, each]) =>
    each.in === 'header' ? 'header' : 'other',
  );
  return markup`<section class="try" aria-label="Try it: ${summary}">
  <h3>Try it</h3>
  <form autocomplete="off" data-method="${method}" data-path="${path}">
    ${other.map((entry) => fieldView(id, entry))}
    ${body && bodyFieldView(`${id}-body`, stringifyJson(body.example, 2))}
    <details><summary>More</summary>${header.map((entry) => fieldView(id, entry))}</details>
    <p><button class="send">Send</button></p>
  </form>
  <div class="response">
    <p role="status"></p>
    <pre class="body" tabindex="0" role="group" aria-label="Response body"></pre>
    <button type="button" class="follow"></button>
    <details><summary>Response headers</summary><pre class="headers"></pre></details>
  </div>
  <details open>
    <summary>curl</summary>
    <pre class="curl" tabindex="0" role="group" aria-label="curl sample"></pre>
  </details>
</section>`;
}

function fieldView(id: string, [name, parameter]: [string, Parameter]): Markup {
  const { in: place, schema, description } = parameter;
  const fieldId = `${id}-${name}`;
  const isRequired = place === 'path';
  const attributes = markup`id="${fieldId}" name="${name}" data-in="${place}"
        aria-describedby="${fieldId}-about"`;
  return markup`<div>
      <label for="${fieldId}">${name}</label>
      <span class="hint">${place}, ${isRequired ? 'required' : 'optional'}</span>
      ${controlView(attributes, parameter, isRequired)}
      <p class="hint" id="${fieldId}-about">${prose(description)}<br>${valueText(schema)}</p>
    </div>`;
}

/** A list of known values, or text: a number field would round integers and hide what the service refuses. */
function controlView(attributes: Markup, { schema, example }: Parameter, isRequired: boolean) {
  const { enum: values, default: fallback } = keywordsOf(schema);
  if (!values)
    return markup`<input ${attributes} value="${isRequired && String(example)}" placeholder="${fallback}"
        spellcheck="false" autocapitalize="off" ${isRequired && 'required'}>`;
  const options = values.map((value) => markup`<option>${value}</option>`);
  return markup`<select ${attributes}><option value="">any</option>${options}</select>`;
}

const bodyFieldView = (fieldId: string, example: string): Markup => markup`<div>
      <label for="${fieldId}">Body</label>
      <textarea id="${fieldId}" name="body" data-in="body" rows="6"
        spellcheck="false" autocapitalize="off">
${example}</textarea>
    </div>`;
