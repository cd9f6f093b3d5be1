import { copyButton } from './copy-button.js';
import { element } from './element.js';
import { exchange } from './exchange.js';
import type { Operation, Parameter } from './interface-document.js';
import { layOut, plainText, readTokens } from './json-text.js';
import { curlLine, prepareRequest, type PreparedRequest } from './requests.js';
import type { Schemas } from './schema-text.js';

/** What all operations are tried with. */
export interface Caller {
  /** Where the operations are. */
  readonly base: () => URL;
  /** The API key as it is typed; it is kept nowhere else. */
  readonly key: () => string;
  /** Calls `listener` when the place changed. */
  readonly onChange: (listener: () => void) => void;
}

type Field = HTMLInputElement | HTMLSelectElement;

/** A form that sends the request of an operation, the same as a curl line, and what comes back. */
export function tryIt(operation: Operation, schemas: Schemas, caller: Caller): HTMLElement {
  const { id, summary, parameters } = operation;
  const fields = new Map(parameters.map((parameter) => [parameter, fieldOf(id, parameter, schemas)]));
  const body = operation.body && bodyField(operation);
  const curl = element('code');
  const send = element('button', { type: 'submit' }, 'Send');
  const next = element('button', { type: 'button', class: 'quiet', hidden: true }, 'Next page');
  let nextPage: URL | undefined;
  const said = element('p', { class: 'unseen', role: 'status' });
  const given = element('div', { class: 'given' });

  const prepare = (): PreparedRequest =>
    prepareRequest(operation, caller.base(), (parameter) => fields.get(parameter)?.value ?? '', body?.value);
  const showCurl = (): void => void (curl.textContent = curlLine(prepare()));

  async function run(): Promise<void> {
    if (send.ariaDisabled === 'true') return;
    send.ariaDisabled = 'true'; // not `disabled`, which would take the focus away
    said.textContent = 'Sending';
    const { view, outcome, next: link } = await exchange(prepare(), caller.key());
    given.replaceChildren(view);
    said.textContent = outcome;
    send.ariaDisabled = null;
    if (link === undefined && document.activeElement === next) send.focus();
    next.hidden = link === undefined;
    nextPage = link;
  }

  next.addEventListener('click', () => {
    for (const [{ name, place }, field] of fields) {
      if (place === 'query') field.value = nextPage?.searchParams.get(name) ?? '';
    }
    showCurl();
    void run();
  });

  const form = element(
    'form',
    { autocomplete: 'off' },
    [...fields].map(([{ name, required }, field]) => labelled(field, name, required)),
    body && labelled(body, 'body', operation.body?.required ?? false),
    element('p', { class: 'actions' }, send, next),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void run();
  });
  form.addEventListener('input', showCurl);
  caller.onChange(showCurl);
  showCurl();
  return element(
    'section',
    { class: 'try', 'aria-label': `Try it: ${summary}` },
    element('h4', {}, 'Try it'),
    form,
    element(
      'div',
      { class: 'over' },
      element('span', {}, 'As a curl line, with the key in ', element('code', {}, 'KEY')),
      copyButton(`Copy the curl line of ${id}`, () => curl.textContent),
    ),
    element('pre', { class: 'curl', tabindex: '0', role: 'group', 'aria-label': 'Curl line' }, curl),
    said,
    given,
  );
}

function fieldOf(
  operationId: string,
  { name, place, required, schema, example }: Parameter,
  schemas: Schemas,
): Field {
  const id = `${operationId}-${name}`;
  const { default: fallback } = schemas.resolve(schema);
  const choices = schemas.choices(schema).map((choice) => element('option', { value: choice }, choice));
  if (choices.length > 0) {
    const none = element('option', { value: '' }, fallback === undefined ? 'any' : plainText(fallback));
    return element('select', { id }, required ? [] : none, choices);
  }
  const field = element('input', {
    id,
    type: 'text', // one for numbers would refuse what the service is to judge
    placeholder: fallback === undefined ? undefined : plainText(fallback),
    required: place === 'path',
    spellcheck: 'false',
    autocapitalize: 'off',
    autocomplete: 'off',
  });
  if (required) field.value = example;
  return field;
}

function bodyField({ id, body }: Operation): HTMLTextAreaElement {
  const tokens = layOut(readTokens(body?.examples[0]?.text ?? '') ?? []);
  const text = tokens.map((token) => token.text).join('');
  const field = element('textarea', {
    id: `${id}-body`,
    rows: String(Math.max(5, text.split('\n').length)),
    spellcheck: 'false',
    autocapitalize: 'off',
    autocomplete: 'off',
  });
  field.value = text;
  return field;
}

const labelled = (field: Field | HTMLTextAreaElement, name: string, required: boolean): HTMLElement =>
  element(
    'div',
    { class: 'field' },
    element(
      'label',
      { for: field.id },
      name,
      required ? element('span', { class: 'hint' }, ' required') : undefined,
    ),
    field,
  );
