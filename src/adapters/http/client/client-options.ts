import type { DeprecationNotice } from './deprecations.js';
import { systemTiming, type Timing } from './timing.js';
import type { OperationId } from '../operations.js';

/** As much of the standard `fetch` as is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** How a client reaches its service, and how patient it is. Only the address and the key have no default. */
export interface AnimalStoreClientOptions {
  /** The address of the service, http or https, ending in `v1`. */
  readonly baseUrl: string | URL;
  /**
   * The API key, a bearer token (RFC 6750, 2.1), or what gives it, asked before each request: so keys can be rotated.
   * What it throws the call rejects with.
   */
  readonly apiKey: string | (() => string | Promise<string>);
  /** The global `fetch` of the moment when left out. */
  readonly fetch?: Fetch | undefined;
  /** How long one attempt may take, until its answer is read, in milliseconds: 10,000 when left out. */
  readonly attemptDeadline?: number | undefined;
  /** How long a call may take, with all its attempts and the pauses between them, in milliseconds: 30,000. */
  readonly callDeadline?: number | undefined;
  /** How often a call is repeated at most: 5 when left out, 0 for never. */
  readonly retries?: number | undefined;
  /**
   * The pause before the first repetition is random, from 0 to so many milliseconds (200); the bound doubles with
   * each repetition up to `maxRetryDelay` (5,000). What the service asks for by `Retry-After`
   * (RFC 9110, 10.2.3) is added.
   */
  readonly retryDelay?: number | undefined;
  /** The bound of that random pause, in milliseconds: 5,000 when left out. */
  readonly maxRetryDelay?: number | undefined;
  /** How large an answer may be, in bytes once decoded: 64 MiB, well above a page of the longest names. */
  readonly answerLimit?: number | undefined;
  /** Hears of each repetition before its pause. What a hook throws is ignored. */
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
  /** Hears of each deprecated operation that is used, once for each client. Good for a warning in the log. */
  readonly onDeprecated?: ((notice: DeprecationNotice) => void) | undefined;
  /** Time and chance; for tests. */
  readonly timing?: Timing | undefined;
}

/** A call is about to be repeated. */
export interface RetryNotice {
  /** Which operation is repeated. */
  readonly operation: OperationId;
  /** Which repetition of the call it is: 1 for the first. */
  readonly retry: number;
  /** How long the pause is, in milliseconds. */
  readonly delay: number;
  /** Why the attempt before is not the last. */
  readonly error: Error;
}

/** The options, checked and complete. */
export interface ClientSettings {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: () => Promise<string>;
  readonly fetch: Fetch;
  readonly attemptDeadline: number;
  readonly callDeadline: number;
  readonly retries: number;
  readonly retryDelay: number;
  readonly maxRetryDelay: number;
  readonly answerLimit: number;
  readonly onRetry: (notice: RetryNotice) => void;
  readonly onDeprecated: (notice: DeprecationNotice) => void;
  readonly timing: Timing;
}

/** The longest time that a timer knows: one that is longer is over at once. */
const MAX_TIME = 2 ** 31 - 1;

/** @throws {TypeError} naming the option that is wrong; never with the key */
export function clientSettings(options: AnimalStoreClientOptions): ClientSettings {
  const { apiKey, fetch, timing = systemTiming } = options;
  if (typeof apiKey === 'string') requireBearerToken(apiKey);
  else if (typeof apiKey !== 'function') throw new TypeError('apiKey has to be a text or a function');
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    apiKey: async () => requireBearerToken(typeof apiKey === 'string' ? apiKey : await apiKey()),
    // Called as a plain function: a browser's fetch refuses to be a method of something else.
    fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
    attemptDeadline: integer('attemptDeadline', options.attemptDeadline ?? 10_000, 1, MAX_TIME),
    callDeadline: integer('callDeadline', options.callDeadline ?? 30_000, 1, MAX_TIME),
    retries: integer('retries', options.retries ?? 5, 0, Number.MAX_SAFE_INTEGER),
    retryDelay: integer('retryDelay', options.retryDelay ?? 200, 0, MAX_TIME),
    maxRetryDelay: integer('maxRetryDelay', options.maxRetryDelay ?? 5000, 0, MAX_TIME),
    answerLimit: integer('answerLimit', options.answerLimit ?? 64 * 1024 * 1024, 1, Number.MAX_SAFE_INTEGER),
    onRetry: harmless(options.onRetry),
    onDeprecated: harmless(options.onDeprecated),
    timing,
  };
}

/** A hook that fails must not fail the call: a create would be reported as failed that happened. */
const harmless =
  <Notice>(hook: (notice: Notice) => void = () => {}): ((notice: Notice) => void) =>
  (notice) => {
    try {
      hook(notice);
    } catch {
      // the hook's own affair
    }
  };

function readBaseUrl(baseUrl: string | URL): string {
  const url = URL.canParse(String(baseUrl)) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError('baseUrl has to be a whole URL, http or https');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(
      'baseUrl must hold no user or password: the API key is all that the service asks for',
    );
  }
  const path = url.pathname.replace(/\/$/, '');
  if (!path.endsWith('/v1') || url.search !== '' || url.hash !== '') {
    throw new TypeError('baseUrl has to end in the path segment v1, as in https://animals.example/v1');
  }
  return url.origin + path;
}

/** Checked here because fetch quotes a header that it refuses in its error. */
function requireBearerToken(apiKey: string): string {
  if (typeof apiKey === 'string' && /^[\w.~+/-]+=*$/.test(apiKey)) return apiKey;
  throw new TypeError('apiKey is no bearer token (RFC 6750, 2.1)');
}

function integer(name: string, value: number, minimum: number, maximum: number): number {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  throw new TypeError(`${name} has to be an integer from ${minimum} to ${maximum}`);
}
