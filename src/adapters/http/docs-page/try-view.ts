import { stringify } from '../../../exact-json.js';
import type { Operation, Parameter } from '../operations.js';
import { markup, statusView, type Markup } from './markup.js';
import { exampleOf, keywordsOf } from './schema-view.js';

/** The form that sends a request, the place for the response, and the same request as a sample. */
export const tryView = (
  id: string,
  { summary, method, path, body, parameters, success }: Operation,
): Markup =>
  markup`<section class="try" id="${id}-try" aria-label="Try it: ${summary}">
  <h3>Try it</h3>
  <form autocomplete="off" data-method="${method}" data-path="${path}">
    ${Object.entries(parameters).map(([name, parameter]) => fieldView(`${id}-${name}`, name, parameter))}
    ${body && bodyFieldView(`${id}-body`, stringify(exampleOf(body.schema), 2))}
    <p class="wide beside">
      <button class="send">Send</button>
      <span class="hint">or press Ctrl+Enter</span>
      <button type="button" class="next" hidden>Next page</button>
    </p>
  </form>
  <div class="response">
    <p role="status">${statusView(success.status)} <span class="hint">Sample response</span></p>
    <pre tabindex="0" role="group" aria-label="Response body"><code>${success.schema && stringify(exampleOf(success.schema), 2)}</code></pre>
    <details hidden><summary>Response headers</summary><dl class="pairs"></dl></details>
  </div>
  <details class="sample" open>
    <summary>curl</summary>
    <pre tabindex="0" role="group" aria-label="curl sample"><code class="curl"></code></pre>
  </details>
</section>`;

function fieldView(fieldId: string, name: string, parameter: Parameter): Markup {
  const { enum: values, default: fallback } = keywordsOf(parameter.schema);
  const isRequired = parameter.in === 'path';
  const attributes = markup`id="${fieldId}" name="${name}" data-in="${parameter.in}" aria-describedby="${fieldId}-about"`;
  // Always text: a number field would round integers and hide what the service refuses.
  const field = values
    ? markup`<select ${attributes}><option value="">any</option>${values.map(
        (value) => markup`<option>${value}</option>`,
      )}</select>`
    : markup`<input ${attributes} value="${isRequired && String(parameter.example)}" placeholder="${fallback}" spellcheck="false" autocapitalize="off" ${isRequired && 'required'}>`;
  const newKey = markup`<button type="button" class="new-key" aria-label="Fill in a new Idempotency-Key">New</button>`;
  const hasButton = name === 'Idempotency-Key';
  return markup`<div class="${hasButton && 'wide'}">
      <label for="${fieldId}">${name}</label>
      <div class="beside">${field}${hasButton && newKey}</div>
    </div>`;
}

const bodyFieldView = (fieldId: string, example: string): Markup => markup`<div class="wide">
      <label for="${fieldId}">Body</label>
      <textarea id="${fieldId}" name="body" rows="6" spellcheck="false" autocapitalize="off">
${example}</textarea>
    </div>`;
