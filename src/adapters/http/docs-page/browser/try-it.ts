import { JsonSyntaxError, readJson } from '../../../../exact-json.js';
import { makeCopyable, required } from './elements.js';
import { curlSample, fetchSample, nextCursor, prepareRequest, type PreparedRequest } from './request.js';
import { exchange } from './response.js';

/** The address and the API key that all operations use. */
export interface Access {
  /** Without a slash at its end. */
  baseUrl(): string;
  /** The key as it was typed. Only the field holds it. */
  key(): string;
  /** Calls `listener` when the address changes. */
  onChange(listener: () => void): void;
  /** Says at the key field that the service refused the key. Enter in that field calls `retry`. */
  refuse(retry: () => void): void;
  /** Takes that back. */
  accept(): void;
}

type Field = HTMLInputElement | HTMLSelectElement;

/** Makes the form of an operation send its request, show the response, and keep the samples up to date. */
export function tryIt(section: HTMLElement, access: Access): void {
  const form = required(section.querySelector('form'));
  const fields = [...form.querySelectorAll<Field>('[data-in]')];
  const body = form.querySelector('textarea');
  const send = required(form.querySelector<HTMLButtonElement>('.send'));
  const next = required(form.querySelector<HTMLButtonElement>('.next'));
  let cursor: string | undefined;

  const prepare = (): PreparedRequest => {
    const { method = '', path = '' } = form.dataset;
    const values = fields.map(({ name, dataset, value }) => ({ name, in: dataset['in'] ?? '', value }));
    return prepareRequest({ method, path }, access.baseUrl(), values, body?.value);
  };

  const update = (): void => {
    const request = prepare();
    required(section.querySelector('.curl')).textContent = curlSample(request);
    required(section.querySelector('.fetch')).textContent = fetchSample(request);
    if (body) showFault(body, required(form.querySelector('.fault')));
  };

  const run = async (): Promise<void> => {
    if (send.ariaDisabled === 'true') return;
    send.ariaDisabled = 'true'; // `disabled` would lose the focus
    const response = await exchange(required(section.querySelector('.response')), prepare(), access.key());
    send.ariaDisabled = null;
    cursor = nextCursor(response?.headers.get('link') ?? null);
    if (cursor === undefined && document.activeElement === next) send.focus();
    next.hidden = cursor === undefined;
    if (response?.status === 401) access.refuse(retry);
    else if (response) access.accept();
  };
  const retry = (): void => {
    send.focus();
    void run();
  };

  next.addEventListener('click', () => {
    const field = fields.find(({ name }) => name === 'cursor');
    if (field) field.value = cursor ?? '';
    update();
    void run();
  });
  form.querySelector('.new-key')?.addEventListener('click', () => {
    const field = fields.find(({ name }) => name === 'Idempotency-Key');
    if (field) field.value = randomKey();
    update();
  });
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit(send);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void run();
  });
  form.addEventListener('input', () => {
    next.hidden = true; // its cursor belongs to the fields of before
    update();
  });
  access.onChange(update);
  for (const sample of section.querySelectorAll<HTMLElement>('.sample')) makeCopyable(sample);
  update();
}

/** Says at the field why its text is not JSON. It can be sent all the same: the service decides. */
function showFault(field: HTMLTextAreaElement, place: Element): void {
  const fault = faultOf(field.value);
  field.ariaInvalid = fault === '' ? null : 'true';
  if (place.textContent !== fault) place.textContent = fault;
}

function faultOf(text: string): string {
  try {
    const [duplicate] = readJson(text).duplicates;
    return duplicate === undefined ? '' : `The member ${duplicate} is repeated.`;
  } catch (error) {
    return error instanceof JsonSyntaxError ? `Not JSON: ${error.message}.` : String(error);
  }
}

/** 128 random bits. `crypto.randomUUID` is missing where a page comes over plain HTTP. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
