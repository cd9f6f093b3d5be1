import type { OperationId } from '../operations.js';

/** Where the service is, and how long and how often to try. Numbers are integers up to 2^31 - 1. */
export interface AnimalStoreClientOptions {
  /** Base URL of the service: http or https, ending in `v1`. */
  readonly baseUrl: string | URL;
  /**
   * The API key, a bearer token (RFC 6750), or a function that returns it. The function is called once for each call, so
   * keys can be rotated; the call rejects with what it throws.
   */
  readonly apiKey: string | (() => string | Promise<string>);
  /** The part of the standard `fetch` that the client uses. Default: the global one. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Timeout of one attempt, including the body, in milliseconds: 1 or more. Default: 10,000. */
  readonly attemptDeadline?: number | undefined;
  /** Timeout of a call with all its attempts and pauses, in milliseconds: 1 or more. Default: 30,000. */
  readonly callDeadline?: number | undefined;
  /** The largest number of retries of a call; 0 for none. Default: 5. */
  readonly retries?: number | undefined;
  /**
   * Called before the pause of each retry. The pause is random, up to 200 ms before the first retry, twice as much before
   * each further one, at most 5 s; a `Retry-After` of the service is added. Errors of the hook are ignored.
   */
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
}

/** A retry is about to happen. */
export interface RetryNotice {
  readonly operation: OperationId;
  /** The number of the retry: 1 for the first. */
  readonly retry: number;
  /** The pause before it, in milliseconds. */
  readonly delay: number;
  /** Why the last attempt failed. */
  readonly error: Error;
}

/** The options, checked, with defaults. */
export type ClientSettings = ReturnType<typeof clientSettings>;

/** @throws {TypeError} naming the option that is wrong, never quoting the key */
export function clientSettings(options: AnimalStoreClientOptions) {
  const { apiKey, fetch, onRetry } = options;
  const key = typeof apiKey === 'function' ? apiKey : requireBearerToken(apiKey);
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    apiKey: async () => (typeof key === 'string' ? key : requireBearerToken(await key())),
    // Called as a plain function: a browser's fetch refuses any other `this`.
    fetch: fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init)),
    attemptDeadline: integer('attemptDeadline', options.attemptDeadline ?? 10_000, 1),
    callDeadline: integer('callDeadline', options.callDeadline ?? 30_000, 1),
    retries: integer('retries', options.retries ?? 5, 0),
    // A hook that fails must not fail the call.
    onRetry: (notice: RetryNotice) =>
      void Promise.resolve(notice)
        .then(onRetry)
        .catch(() => {}),
  };
}

function readBaseUrl(baseUrl: string | URL): string {
  const url = URL.canParse(String(baseUrl)) ? new URL(baseUrl).href.replace(/\/$/, '') : '';
  if (/^https?:\/\/[^/@?#]+(?:\/[^?#]*)?\/v1$/.test(url)) return url;
  throw new TypeError('baseUrl must be an http or https URL without user, as in https://animals.example/v1');
}

/** Checked here because fetch quotes a header that it refuses in its error. */
function requireBearerToken(apiKey: string): string {
  if (typeof apiKey === 'string' && /^[\w.~+/-]+=*$/.test(apiKey)) return apiKey;
  throw new TypeError('apiKey is not a bearer token (RFC 6750, section 2.1)');
}

function integer(name: string, value: number, minimum: number): number {
  // Longer timers fire at once.
  const maximum = 2 ** 31 - 1;
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  throw new TypeError(`${name} must be an integer from ${minimum} to ${maximum}`);
}
