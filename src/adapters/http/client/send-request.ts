import type { Call } from '../../../application/animal-store.js';
import { IdempotencyConflictError, UnavailableError, isAnimalStoreError } from '../../../domain/errors.js';
import type { Operation } from '../operations.js';
import type { ClientSettings } from './client-options.js';
import { ServiceError, readBody } from './service-error.js';

/** A request of one operation. */
export interface ClientRequest<T> {
  readonly method: Operation['method'];
  /** Below the base URL. */
  readonly path: string;
  readonly query?: Readonly<Record<string, bigint | number | string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
  /** Whether a retry is safe after an attempt whose outcome is unknown. Default: true. */
  readonly idempotent?: boolean;
  /** Reads the body of a successful response, `undefined` if it is empty. */
  readonly read: (body: unknown, headers: Headers) => T;
}

/** Sends a request and retries it with exponential backoff and full jitter until the call's deadline. */
export async function sendRequest<T>(
  settings: ClientSettings,
  request: ClientRequest<T>,
  { signal }: Call,
): Promise<T> {
  signal?.throwIfAborted();
  const { callDeadline, retries } = settings;
  const end = performance.now() + callDeadline;
  // Not the caller's signal itself: of one that outlives its calls, Node.js 22 keeps 180 bytes for each `any`.
  const caller = new AbortController();
  const onAbort = (): void => caller.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const ending = AbortSignal.any([caller.signal, AbortSignal.timeout(callDeadline)]);
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const onEnd = (): void => reject(ending.reason);
  ending.addEventListener('abort', onEnd);
  ended.catch(() => {}); // it may end while nothing waits
  try {
    // Once a call: idempotency keys belong to the API key, so another key in a retry would add a second animal.
    const apiKey = await Promise.race([ended, settings.apiKey()]);
    for (let retry = 1; ; retry += 1) {
      try {
        return await Promise.race([ended, attempt(settings, request, apiKey, ending)]);
      } catch (cause) {
        ending.throwIfAborted();
        const isResponse = isAnimalStoreError(cause) || cause instanceof ServiceError;
        const { origin } = new URL(settings.baseUrl);
        const error = isResponse ? cause : new UnavailableError(`reaching ${origin}`, { cause });
        const delay = pauseBefore(retry, error, request.idempotent);
        if (delay === undefined || retry > retries || performance.now() + delay >= end) throw error;
        // Not AbortSignal.timeout, whose timer does not keep the process alive.
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, delay);
        await Promise.race([ended, promise]).finally(() => clearTimeout(timer));
      }
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw ending.aborted ? new UnavailableError(`responding within ${callDeadline} ms`) : error;
  } finally {
    ending.removeEventListener('abort', onEnd);
    signal?.removeEventListener('abort', onAbort);
  }
}

async function attempt<T>(
  { baseUrl, fetch }: ClientSettings,
  { method, path, query = {}, headers, body, read }: ClientRequest<T>,
  apiKey: string,
  signal: AbortSignal,
): Promise<T> {
  const parameters = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = parameters.map(([name, value], index) => `${index === 0 ? '?' : '&'}${name}=${value}`);
  const response = await fetch([baseUrl, path, ...search].join(''), {
    method,
    headers: {
      ...headers,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      Accept: 'application/json',
      Authorization: `Bearer ${apiKey}`,
    },
    ...(body !== undefined && { body }),
    signal,
    // The key is for this address only.
    redirect: 'manual',
    credentials: 'omit',
  });
  const text = await response.text();
  return readBody(response, text, (json) => read(json, response.headers), path.slice('/pets/'.length));
}

/** Milliseconds to wait before this retry; `undefined` if a retry is not safe or would not help. */
function pauseBefore(retry: number, error: Error, idempotent = true): number | undefined {
  const response = [error, error.cause].find((one) => one instanceof ServiceError);
  // A conflict ends soon, when the earlier request with the same key is done.
  const isConflict = error instanceof IdempotencyConflictError;
  const statuses = idempotent ? [408, 429, 502, 503, 504] : [408, 429];
  if (response ? !isConflict && !statuses.includes(response.status) : !idempotent) return undefined;
  return (response?.retryAfter ?? 0) * 1000 + Math.random() * Math.min(5000, 200 * 2 ** (retry - 1));
}
