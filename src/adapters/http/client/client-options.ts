import type { OperationId } from '../operations.js';

/** The part of the standard `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Where the service is, and how long and how often to try. */
export interface AnimalStoreClientOptions {
  /** Base URL of the service: http or https, ending in `v1`. */
  readonly baseUrl: string | URL;
  /**
   * The API key, a bearer token (RFC 6750), or a function that returns it. The function is called once for each call, so
   * keys can be rotated; the call rejects with what it throws.
   */
  readonly apiKey: string | (() => string | Promise<string>);
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** Timeout of one attempt, including the body, in milliseconds. Default: 10,000. */
  readonly attemptDeadline?: number | undefined;
  /** Timeout of a call with all its attempts and pauses, in milliseconds. Default: 30,000. */
  readonly callDeadline?: number | undefined;
  /** The largest number of retries of a call. Default: 5; 0 for none. */
  readonly retries?: number | undefined;
  /**
   * Upper bound of the random pause before the first retry, in milliseconds. It doubles with each retry, up to 5,000. A
   * `Retry-After` of the service is added. Default: 200.
   */
  readonly retryDelay?: number | undefined;
  /** The largest response, in bytes once decoded. Default: 64 MiB. */
  readonly responseLimit?: number | undefined;
  /** Called before the pause of each retry. Errors that it throws are ignored. */
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
  /** Called once for each deprecated operation that this client uses. Errors that it throws are ignored. */
  readonly onDeprecated?: ((notice: DeprecationNotice) => void) | undefined;
}

/** A retry is about to happen. */
export interface RetryNotice {
  /** The operation. */
  readonly operation: OperationId;
  /** The number of the retry: 1 for the first. */
  readonly retry: number;
  /** The pause before it, in milliseconds. */
  readonly delay: number;
  /** Why the last attempt failed. */
  readonly error: Error;
}

/** The service marks an operation as deprecated. */
export interface DeprecationNotice {
  /** The operation. */
  readonly operation: OperationId;
  /** When the service will remove it, as its Sunset header says (RFC 8594). */
  readonly sunset: string | undefined;
}

/** The options, checked, with defaults. */
export interface ClientSettings {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: () => Promise<string>;
  readonly fetch: Fetch;
  readonly attemptDeadline: number;
  readonly callDeadline: number;
  readonly retries: number;
  readonly retryDelay: number;
  readonly responseLimit: number;
  readonly onRetry: (notice: RetryNotice) => void;
  readonly onDeprecated: (notice: DeprecationNotice) => void;
}

/** Longer timers fire at once. */
const MAX_TIME = 2 ** 31 - 1;

/** @throws {TypeError} naming the option that is wrong, never quoting the key */
export function clientSettings(options: AnimalStoreClientOptions): ClientSettings {
  const { apiKey, fetch } = options;
  if (typeof apiKey === 'string') requireBearerToken(apiKey);
  else if (typeof apiKey !== 'function') throw new TypeError('apiKey must be a string or a function');
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    apiKey: async () => requireBearerToken(typeof apiKey === 'string' ? apiKey : await apiKey()),
    // Called as a plain function: a browser's fetch refuses any other `this`.
    fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
    attemptDeadline: integer('attemptDeadline', options.attemptDeadline ?? 10_000, 1, MAX_TIME),
    callDeadline: integer('callDeadline', options.callDeadline ?? 30_000, 1, MAX_TIME),
    retries: integer('retries', options.retries ?? 5, 0, Number.MAX_SAFE_INTEGER),
    retryDelay: integer('retryDelay', options.retryDelay ?? 200, 0, MAX_TIME),
    responseLimit: integer(
      'responseLimit',
      options.responseLimit ?? 64 * 1024 * 1024,
      1,
      Number.MAX_SAFE_INTEGER,
    ),
    onRetry: harmless(options.onRetry),
    onDeprecated: harmless(options.onDeprecated),
  };
}

/** A hook that fails must not fail the call: it would report a create that succeeded as failed. */
const harmless =
  <Notice>(hook: (notice: Notice) => void = () => {}): ((notice: Notice) => void) =>
  (notice) => {
    try {
      hook(notice);
    } catch {
      // ignored, as documented
    }
  };

function readBaseUrl(baseUrl: string | URL): string {
  const url = URL.canParse(String(baseUrl)) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError('baseUrl must be an absolute http or https URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('baseUrl must not contain a user or password: the API key is enough');
  }
  const path = url.pathname.replace(/\/$/, '');
  if (!path.endsWith('/v1') || url.search !== '' || url.hash !== '') {
    throw new TypeError('baseUrl must end in the path segment v1, as in https://animals.example/v1');
  }
  return url.origin + path;
}

/** Checked here because fetch quotes a header that it refuses in its error. */
function requireBearerToken(apiKey: string): string {
  if (typeof apiKey === 'string' && /^[\w.~+/-]+=*$/.test(apiKey)) return apiKey;
  throw new TypeError('apiKey is not a bearer token (RFC 6750, section 2.1)');
}

function integer(name: string, value: number, minimum: number, maximum: number): number {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  throw new TypeError(`${name} must be an integer from ${minimum} to ${maximum}`);
}
