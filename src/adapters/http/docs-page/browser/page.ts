import { readJson, stringifyJson } from '../../../../exact-json.js';
import {
  curlSample,
  linkedFrom,
  prepareRequest,
  unsendable,
  type PreparedRequest,
} from './request.js';

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** The API key and the address that all operations use. Only its field holds the key. */
const key = required(document.querySelector<HTMLInputElement>('#key'));
const address = required(document.querySelector<HTMLSelectElement>('#address'));

/** Makes the form of an operation send its request, show the response, and keep the sample up to date. */
function tryIt(section: HTMLElement): void {
  const form = required(section.querySelector('form'));
  const fields = [...form.querySelectorAll<Field>('[data-in]')];
  const outcome = required(section.querySelector('[role=status]'));
  const follow = required(section.querySelector<HTMLButtonElement>('.follow'));
  let isSending = false;
  let linked: ReturnType<typeof linkedFrom>;

  /** The request, or why it cannot be sent. */
  const prepare = (): PreparedRequest | string => {
    const { method = '', path = '' } = form.dataset;
    const baseUrl = new URL(address.value, location.href).href;
    return unsendable(fields) ?? prepareRequest(method, path, baseUrl, fields);
  };
  const show = (place: string, text: string): void => {
    required(section.querySelector(place)).textContent = text;
  };
  const showSample = (request: PreparedRequest | string): void =>
    show('.curl', typeof request === 'string' ? request : curlSample(request));
  const updateSample = (): void => showSample(prepare());
  const send = async (request: PreparedRequest | string): Promise<void> => {
    if (isSending) return;
    isSending = true;
    outcome.textContent = 'Sending…';
    bringIntoView(outcome);
    showSample(request);
    const response = await exchange(request);
    const { status, headers, body } = response;
    linked = response.linked;
    key.ariaInvalid = String(status.startsWith('401'));
    outcome.className = `is-${status.charAt(0)}xx`;
    outcome.textContent = status;
    show('.body', body);
    show('.headers', headers);
    follow.textContent = linked?.text ?? '';
    bringIntoView(required(section.querySelector('.response')));
    isSending = false;
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(prepare());
  });
  follow.addEventListener('click', () => {
    if (linked) void send(linked.request);
  });
  form.addEventListener('input', updateSample);
  address.addEventListener('change', updateSample);
  updateSample();
}

/** It may be below the fold. */
const bringIntoView = (part: Element): void => part.scrollIntoView({ block: 'nearest' });

/** Sends a request. Resolves to its response, or to the reason why there is none. */
async function exchange(request: PreparedRequest | string) {
  if (typeof request === 'string') return { status: 'Not sent', headers: '', body: request };
  const credential = key.value.trim();
  try {
    const sent = new Headers(request.headers);
    if (credential !== '') sent.set('Authorization', `Bearer ${credential}`);
    const response = await fetch(request.url, {
      ...request,
      headers: sent,
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(60_000),
    });
    return {
      status: `${response.status} ${response.statusText}`.trim(),
      headers: [...response.headers].map((header) => header.join(': ')).join('\n'),
      body: formatted(await response.text()),
      linked: linkedFrom(request.url, response.headers),
    };
  } catch (error) {
    const isOurs = new URL(request.url).origin === location.origin;
    const advice = isOurs ? '' : '. A service at another address must allow this page (CORS).';
    return { status: 'No response', headers: '', body: `${String(error)}${advice}` };
  }
}

/** JSON in lines, exact to the digit. Any other text, and what the browser cannot write exactly, as it is. */
function formatted(text: string): string {
  try {
    const { value, duplicates } = readJson(text, Infinity);
    return duplicates.length > 0 ? text : stringifyJson(value, 2);
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
