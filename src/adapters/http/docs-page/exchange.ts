import { colored, element } from './element.js';
import { layOut, readTokens } from './json-text.js';
import { linkTarget, type PreparedRequest } from './requests.js';

/** A request that was sent, and what came back. */
interface Exchange {
  readonly view: HTMLElement;
  /** In one line, for those who hear it. */
  readonly outcome: string;
  /** Where the next page is. */
  readonly next?: URL;
}

/** How long an answer is waited for, in milliseconds. */
const PATIENCE = 60_000;

/** A body of more characters is shown as it came: laying it out would hold the page up. */
const LAID_OUT = 500_000;

/** Sends the request, and shows the answer to the digit. Never rejects: that nothing came is shown too. */
export async function exchange(request: PreparedRequest, key: string): Promise<Exchange> {
  const { method, url, headers, body } = request;
  const began = performance.now();
  try {
    const response = await fetch(url, {
      method,
      headers: [
        ...(key === '' ? [] : [['Authorization', `Bearer ${key}`] satisfies [string, string]]),
        ...headers.map(([name, value]): [string, string] => [name, value]),
      ],
      ...(body !== undefined && { body }),
      cache: 'no-store', // the service's own answer, each time
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(PATIENCE),
    });
    const text = await response.text();
    const took = performance.now() - began;
    const next = linkTarget(response.headers.get('link'), 'next');
    return {
      view: answerView(request, response, text, took),
      outcome: `Answered with ${response.status} ${response.statusText}`,
      ...(next !== undefined && { next: new URL(next, url) }),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice =
      new URL(url).origin === location.origin
        ? ''
        : ' The address is not the one that this page is from: the service there has to allow it.';
    return {
      view: element('p', { class: 'failure' }, `There was no answer: ${reason}.${advice}`),
      outcome: 'There was no answer',
    };
  }
}

function answerView(
  { method, url }: PreparedRequest,
  answer: Response,
  text: string,
  took: number,
): HTMLElement {
  const { status, statusText, headers } = answer;
  const { pathname, search } = new URL(url);
  const bytes = new TextEncoder().encode(text).length;
  const tokens = text.length > LAID_OUT ? undefined : readTokens(text);
  return element(
    'div',
    { role: 'group', 'aria-label': 'Answer' },
    element('p', { class: 'sent' }, element('code', {}, `${method} ${pathname}${search}`)),
    element(
      'p',
      { class: 'outcome' },
      element('strong', { class: `is-${String(status).charAt(0)}xx` }, `${status} ${statusText}`.trim()),
      element('span', { class: 'hint' }, `${Math.round(took)} ms, ${bytes} bytes`),
    ),
    text === ''
      ? element('p', { class: 'hint' }, 'There is no body.')
      : element(
          'pre',
          { tabindex: '0', role: 'group', 'aria-label': 'Body of the answer' },
          element('code', {}, tokens ? colored(layOut(tokens)) : text),
        ),
    element(
      'dl',
      { class: 'headers' },
      [...headers].map(([name, value]) =>
        element('div', {}, element('dt', {}, name), element('dd', {}, value)),
      ),
    ),
  );
}
