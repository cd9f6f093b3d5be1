import { readJson, stringify } from '../../../../exact-json.js';
import type { PreparedRequest } from './request.js';

/** How long the page waits for a response, in milliseconds. */
const TIMEOUT = 60_000;

/** Bodies of more characters are shown as they came: formatting them would freeze the page. */
const FORMATTED = 500_000;

/** Sends a request and shows the response in `place`. Resolves to `undefined` if there was none. */
export async function exchange(
  place: Element,
  request: PreparedRequest,
  key: string,
): Promise<Response | undefined> {
  const { method, url, headers, body } = request;
  const authorization = key === '' ? [] : [['Authorization', `Bearer ${key}`] as const];
  const began = performance.now();
  showOutcome(place, 'Sending…');
  try {
    const response = await fetch(url, {
      method,
      headers: [...authorization, ...headers].map(([name, value]) => [name, value]),
      ...(body !== undefined && { body }),
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const text = await response.text();
    const milliseconds = Math.round(performance.now() - began);
    const bytes = new TextEncoder().encode(text).length;
    const { status, statusText } = response;
    show(place, text, response.headers);
    const style = `is-${String(status).charAt(0)}xx`;
    showOutcome(place, `${status} ${statusText}`.trim(), style, `${milliseconds} ms, ${bytes} bytes`);
    return response;
  } catch (error) {
    show(place, '');
    const advice = '. The service at that address must allow this page (CORS).';
    const isOurs = new URL(url).origin === location.origin;
    showOutcome(place, 'No response', 'is-5xx', String(error) + (isOurs ? '' : advice));
    return undefined;
  }
}

/** What a query of the page found. The server renders the page with all that the script needs. */
export function required<Found>(found: Found | null): Found {
  if (found === null) throw new Error('The page lacks an element');
  return found;
}

function element(name: string, text: string, style = ''): HTMLElement {
  return Object.assign(document.createElement(name), { textContent: text, className: style });
}

function showOutcome(place: Element, outcome: string, style = '', rest = ''): void {
  required(place.querySelector('[role=status]')).replaceChildren(
    element('strong', outcome, style),
    ' ',
    rest,
  );
}

function show(place: Element, text: string, headers?: Headers): void {
  const pre = required(place.querySelector('pre'));
  pre.hidden = text === '';
  required(pre.querySelector('code')).textContent = formatted(text);
  required(place.querySelector('details')).hidden = headers === undefined;
  required(place.querySelector('dl')).replaceChildren(
    ...[...(headers ?? [])].flatMap(([name, value]) => [element('dt', name), element('dd', value)]),
  );
}

/** JSON in lines, exact to the digit. Any other text, and what the browser cannot write exactly, as it is. */
function formatted(text: string): string {
  if (text.length > FORMATTED) return text;
  try {
    const { value, duplicates } = readJson(text, { maxDepth: Infinity });
    return duplicates.length > 0 ? text : stringify(value, 2);
  } catch {
    return text;
  }
}
