import { unlessAborted, type CallOptions } from '../../../application/call-options.js';
import { IdempotencyConflictError, UnavailableError } from '../../../domain/errors.js';
import { parseJson } from '../../../json.js';
import { ServiceError, portErrorOf } from './service-error.js';

/** Options of the client. */
export interface AnimalStoreClientOptions {
  /** Base URL of the service: http or https, ending in `/v1`. */
  readonly baseUrl: string | URL;
  /**
   * The API key, a bearer token (RFC 6750), or a function that returns it. The function is called once for each call,
   * so keys can be rotated; the call rejects with what it throws.
   */
  readonly apiKey: string | (() => string | Promise<string>);
  /** The part of the standard `fetch` that the client uses. It must honour `signal`. Default: the global one. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /**
   * The largest number of retries of a call. The pause before each is random, up to 200 ms before the first and twice
   * as much before each further one; the seconds of a `Retry-After` are added. Default: 3.
   */
  readonly retries?: number | undefined;
}

/** A request of one operation. */
interface ClientRequest<T> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The animal that the request is for, if it is for one. */
  readonly petId?: bigint;
  readonly query?: Readonly<Record<string, bigint | number | string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
  /** Whether a retry is safe after an attempt whose outcome is unknown. Default: true. */
  readonly isSafeToRepeat?: boolean;
  /** Reads the body of a successful response, `undefined` if it is empty. */
  readonly read: (body: unknown, headers: Headers) => T;
}

/**
 * Sends a request, and retries it while retries are left and one may help. If the signal is already aborted, rejects
 * before it calls `makeRequest`, which throws for invalid arguments.
 */
type Send = <T>(
  options: CallOptions | undefined,
  makeRequest: () => ClientRequest<T>,
) => Promise<T>;

/** @throws {TypeError} `baseUrl` or `apiKey` is not valid; the message never quotes the key */
export function requestSender(options: AnimalStoreClientOptions): Send {
  const { apiKey, fetch = (url, init) => globalThis.fetch(url, init), retries = 3 } = options;
  const baseUrl = readBaseUrl(options.baseUrl);
  if (typeof apiKey !== 'function') requireBearerToken(apiKey);

  async function sendOnce<T>(request: ClientRequest<T>, key: string, signal: AbortSignal) {
    signal.throwIfAborted(); // perhaps aborted while the key was fetched, or in a pause
    const { method, petId, query = {}, headers, body, read } = request;
    const path = petId === undefined ? '/pets' : `/pets/${petId}`;
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    // Integers and statuses need no encoding.
    const search = given.map(([name, value], index) => `${index ? '&' : '?'}${name}=${value}`);
    const response = await fetch(`${baseUrl}${path}${search.join('')}`, {
      method,
      headers: {
        ...headers,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        Authorization: `Bearer ${key}`,
      },
      body: body ?? null,
      signal,
      redirect: 'manual', // the key is for this address only
      credentials: 'omit',
    });
    return readResponse(response, await response.text(), read);
  }

  async function sendWithRetries<T>(request: ClientRequest<T>, signal: AbortSignal): Promise<T> {
    // Once for each call: idempotency keys belong to the API key, so another key in a retry would add a second animal.
    const key = requireBearerToken(typeof apiKey === 'function' ? await apiKey() : apiKey);
    for (let retry = 0; ; retry += 1) {
      try {
        return await sendOnce(request, key, signal);
      } catch (cause) {
        const error = portErrorOf(cause, request.petId);
        const mayRetry = retry < retries && !signal.aborted && shouldRetry(error, request);
        if (!mayRetry) throw error;
        // Not `error.retryAfter`: that is 1 if the response has none.
        const retryAfter = cause instanceof ServiceError ? cause.retryAfter : undefined;
        await pause((retryAfter ?? 0) * 1000 + Math.random() * 200 * 2 ** retry, signal);
      }
    }
  }

  return async ({ signal: given } = {}, makeRequest) => {
    given?.throwIfAborted();
    const signal = given ?? AbortSignal.timeout(30_000);
    try {
      return await unlessAborted(sendWithRetries(makeRequest(), signal), signal);
    } catch (error) {
      if (given !== undefined || error !== signal.reason) throw error;
      throw new UnavailableError('responding within 30 s', { cause: error });
    }
  };
}

function readResponse<T>(response: Response, text: string, read: ClientRequest<T>['read']): T {
  let body: unknown;
  try {
    body = text === '' ? undefined : parseJson(text);
    if (response.ok) return read(body, response.headers);
  } catch (cause) {
    // Not JSON, or not what the operation returns.
    throw new ServiceError(response, undefined, { cause });
  }
  throw new ServiceError(response, body);
}

/** Whether a retry is safe and can help. */
function shouldRetry(error: unknown, { isSafeToRepeat = true }: ClientRequest<unknown>): boolean {
  // Whether the service has done its work is unknown.
  if (error instanceof UnavailableError) return isSafeToRepeat;
  // The first create is still in progress. A retry returns its result.
  if (error instanceof IdempotencyConflictError) return true;
  // The service has done nothing: it waited for the request, or got too many.
  return error instanceof ServiceError && [408, 429].includes(error.status);
}

/** Waits these milliseconds, or until the call is aborted. */
const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(milliseconds, 2 ** 31 - 1)); // more would count as 1 ms
    signal.addEventListener('abort', end);
  });

function readBaseUrl(baseUrl: string | URL): string {
  const url = URL.parse(String(baseUrl))?.href.replace(/\/$/, '') ?? '';
  if (/^https?:\/\/[^@?#]+\/v1$/.test(url)) return url;
  throw new TypeError(
    'baseUrl must be an http or https URL that ends in /v1, without user, query and fragment, ' +
      'such as https://animals.example/v1',
  );
}

/** Checked here, because the error of `fetch` for an invalid header would quote the key. */
function requireBearerToken(apiKey: unknown): string {
  if (typeof apiKey === 'string' && /^[\w.~+/-]+=*$/.test(apiKey)) return apiKey;
  throw new TypeError('apiKey is not a bearer token (RFC 6750, section 2.1)');
}
