import type { CallOptions } from '../../../application/animal-store.js';
import {
  IdempotencyConflictError,
  UnavailableError,
  isAnimalStoreError,
} from '../../../domain/errors.js';
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
  { signal }: CallOptions,
): Promise<T> {
  signal?.throwIfAborted();
  const { baseUrl, callDeadline, retries } = settings;
  const latest = performance.now() + callDeadline;
  const ending = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  ended.catch(() => {}); // it may end while nothing waits
  const end = (reason: unknown): void => {
    ending.abort(reason);
    reject(reason);
  };
  const onAbort = (): void => end(signal?.reason);
  const onLate = (): void => end(new UnavailableError(`responding within ${callDeadline} ms`));
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(onLate, callDeadline);
  try {
    // Once a call: idempotency keys belong to the API key, so another key in a retry would add a second animal.
    const apiKey = await Promise.race([ended, settings.apiKey()]);
    for (let retry = 1; ; retry += 1) {
      try {
        return await Promise.race([ended, attempt(settings, request, apiKey, ending.signal)]);
      } catch (cause) {
        ending.signal.throwIfAborted();
        const isResponse = isAnimalStoreError(cause) || cause instanceof ServiceError;
        const reaching = `reaching ${new URL(baseUrl).origin}`;
        const error = isResponse ? cause : new UnavailableError(reaching, { cause });
        const delay = pauseBefore(retry, error, request.idempotent);
        if (delay === undefined || retry > retries || performance.now() + delay >= latest)
          throw error;
        const { promise: passed, resolve } = Promise.withResolvers<void>();
        const pause = setTimeout(resolve, delay);
        await Promise.race([ended, passed]).finally(() => clearTimeout(pause));
      }
    }
  } finally {
    clearTimeout(timer);
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
  const search = parameters.map(
    ([name, value], index) => `${index === 0 ? '?' : '&'}${name}=${value}`,
  );
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
  return readBody(
    response,
    text,
    (json) => read(json, response.headers),
    path.slice('/pets/'.length),
  );
}

/** Milliseconds to wait before this retry; `undefined` if a retry is not safe or would not help. */
function pauseBefore(retry: number, error: Error, idempotent = true): number | undefined {
  const response = [error, error.cause].find((one) => one instanceof ServiceError);
  // A conflict ends soon, when the earlier request with the same key is done.
  const isConflict = error instanceof IdempotencyConflictError;
  const statuses = idempotent ? [408, 429, 502, 503, 504] : [408, 429];
  if (response ? !isConflict && !statuses.includes(response.status) : !idempotent) return undefined;
  return (
    (response?.retryAfter ?? 0) * 1000 + Math.random() * Math.min(5000, 200 * 2 ** (retry - 1))
  );
}
