import { LARGEST_INTEGER, requireInteger } from '../../../application/option-rules.js';

/** Where the service is, and how long and how often to try. Numbers are integers up to 2^31 - 1. */
export interface AnimalStoreClientOptions {
  /** Base URL of the service: http or https, ending in `v1`. */
  readonly baseUrl: string | URL;
  /**
   * The API key, a bearer token (RFC 6750), or a function that returns it. The function is called once for each call, so
   * keys can be rotated; the call rejects with what it throws.
   */
  readonly apiKey: string | (() => string | Promise<string>);
  /**
   * The part of the standard `fetch` that the client uses. It must honour `signal`. One that wraps the global fetch sees
   * every attempt. Default: the global one.
   */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Timeout of a call with all its attempts and pauses, in milliseconds: 1 or more. Default: 30,000. */
  readonly callDeadline?: number | undefined;
  /**
   * The largest number of retries of a call; 0 for none. Default: as many as end before `callDeadline`. The pause before
   * each is random, up to 200 ms before the first, twice as much before each further one, at most 5 s; a `Retry-After`
   * of the service is added.
   */
  readonly retries?: number | undefined;
}

/** The options, checked, with defaults. */
export type ClientSettings = ReturnType<typeof clientSettings>;

/** @throws {TypeError} naming the option that is wrong, never quoting the key */
export function clientSettings(options: AnimalStoreClientOptions) {
  const { apiKey, fetch } = options;
  const key = typeof apiKey === 'function' ? apiKey : requireBearerToken(apiKey);
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    apiKey: async () => (typeof key === 'string' ? key : requireBearerToken(await key())),
    // Called as a plain function: a browser's fetch refuses any other `this`.
    fetch: fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init)),
    callDeadline: requireInteger('callDeadline', options.callDeadline ?? 30_000, 1),
    retries: requireInteger('retries', options.retries ?? LARGEST_INTEGER, 0),
  };
}

function readBaseUrl(baseUrl: string | URL): string {
  const url = URL.canParse(String(baseUrl)) ? new URL(baseUrl).href.replace(/\/$/, '') : '';
  if (/^https?:\/\/[^/@?#]+(?:\/[^?#]*)?\/v1$/.test(url)) return url;
  throw new TypeError(
    'baseUrl must be an http or https URL that ends in /v1, without user, query and fragment, ' +
      'as in https://animals.example/v1',
  );
}

/** Checked here because fetch quotes a header that it refuses in its error. */
function requireBearerToken(apiKey: string): string {
  if (typeof apiKey === 'string' && /^[\w.~+/-]+=*$/.test(apiKey)) return apiKey;
  throw new TypeError('apiKey is not a bearer token (RFC 6750, section 2.1)');
}
