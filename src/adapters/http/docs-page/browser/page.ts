import { readJson, stringify } from '../../../../exact-json.js';
import { curlSample, prepareRequest, unsendable, type PreparedRequest } from './request.js';

type Field = HTMLInputElement | HTMLSelectElement;

/** The API key and the address that all operations use. Only its field holds the key. */
const key = required(document.querySelector<HTMLInputElement>('#key'));
const address = required(document.querySelector<HTMLSelectElement>('#address'));

/** Makes the form of an operation send its request, show the response, and keep the sample up to date. */
function tryIt(section: HTMLElement): void {
  const form = required(section.querySelector('form'));
  const fields = [...form.querySelectorAll<Field>('[data-in]')];
  const outcome = required(section.querySelector('[role=status]'));
  let isSending = false;

  /** The request, or why it cannot be sent. */
  const prepare = (): PreparedRequest | string => {
    const { method = '', path = '' } = form.dataset;
    const values = fields.map(({ name, dataset, value }) => ({
      name,
      in: dataset['in'] ?? '',
      value,
    }));
    const baseUrl = new URL(address.value, location.href).href;
    const body = form.querySelector('textarea')?.value;
    return unsendable(values, body) ?? prepareRequest({ method, path }, baseUrl, values, body);
  };
  const show = (place: string, text: string): void => {
    required(section.querySelector(place)).textContent = text;
  };
  const update = (): void => {
    const request = prepare();
    show('.curl', typeof request === 'string' ? request : curlSample(request));
  };
  const send = async (): Promise<void> => {
    if (isSending) return;
    isSending = true;
    outcome.textContent = 'Sending…';
    bringIntoView(outcome);
    const { status, headers, body } = await exchange(prepare());
    key.ariaInvalid = String(status.startsWith('401'));
    outcome.className = `is-${status.charAt(0)}xx`;
    outcome.textContent = status;
    show('.body', body);
    show('.headers', headers);
    bringIntoView(required(section.querySelector('.response')));
    isSending = false;
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send();
  });
  form.addEventListener('input', update);
  address.addEventListener('change', update);
  update();
}

/** It may be below the fold. */
const bringIntoView = (part: Element): void => part.scrollIntoView({ block: 'nearest' });

/** Sends a request. Resolves to what the page shows of its response, or of the reason why there is none. */
async function exchange(request: PreparedRequest | string) {
  if (typeof request === 'string') return { status: 'Not sent', headers: '', body: request };
  const { method, url, headers, body } = request;
  const credential = key.value.trim();
  const authorization =
    credential === '' ? [] : [['Authorization', `Bearer ${credential}`] as const];
  try {
    const response = await fetch(url, {
      method,
      headers: [...authorization, ...headers].map(([name, value]) => [name, value]),
      ...(body !== undefined && { body }),
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(60_000),
    });
    return {
      status: `${response.status} ${response.statusText}`.trim(),
      headers: [...response.headers].map((header) => header.join(': ')).join('\n'),
      body: formatted(await response.text()),
    };
  } catch (error) {
    const isOurs = new URL(url).origin === location.origin;
    const advice = isOurs ? '' : '. A service at another address must allow this page (CORS).';
    return { status: 'No response', headers: '', body: `${String(error)}${advice}` };
  }
}

/** JSON in lines, exact to the digit. Any other text, and what the browser cannot write exactly, as it is. */
function formatted(text: string): string {
  try {
    const { value, duplicates } = readJson(text, Infinity);
    return duplicates.length > 0 ? text : stringify(value, 2);
  } catch {
    return text;
  }
}

/** What a query of the page found. The server renders the page with all that the script needs. */
function required<Found>(found: Found | null): Found {
  if (found === null) throw new Error('The page lacks an element');
  return found;
}

for (const section of document.querySelectorAll<HTMLElement>('.try')) tryIt(section);
