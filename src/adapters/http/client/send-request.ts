import type { CallOptions } from '../../../application/animal-store.js';
import type { Operation } from '../operations.js';
import { RequestTimer } from '../request-timer.js';
import type { ClientSettings } from './client-options.js';
import { ServiceError, portErrorOf, readBody, serviceUnavailable } from './service-error.js';

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
  const { callDeadline } = settings;
  const late = (): Error => serviceUnavailable(`responding within ${callDeadline} ms`);
  const timer = new RequestTimer(callDeadline, late);
  const onAbort = (): void => timer.abort(() => signal?.reason as Error);
  signal?.addEventListener('abort', onAbort);
  try {
    // Once a call: idempotency keys belong to the API key, so another key in a retry would add a second animal.
    const apiKey = await timer.limit(settings.apiKey());
    return await timer.limit(attempts(settings, request, apiKey, timer.signal));
  } finally {
    timer.stop();
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Makes attempts until one succeeds. Rejects with the error of the last one if no retry is left, or none would help. */
async function attempts<T>(
  settings: ClientSettings,
  request: ClientRequest<T>,
  apiKey: string,
  signal: AbortSignal,
): Promise<T> {
  const latest = performance.now() + settings.callDeadline;
  for (let retry = 1; ; retry += 1) {
    try {
      return await attempt(settings, request, apiKey, signal);
    } catch (cause) {
      signal.throwIfAborted();
      const refusal = cause instanceof ServiceError ? cause : undefined;
      const pause = pauseBefore(retry, refusal);
      const isInTime = retry <= settings.retries && performance.now() + pause < latest;
      if (!isInTime || !isRetryable(refusal, request.idempotent))
        throw callError(cause, settings, request.path);
      await delay(pause, signal);
    }
  }
}

async function attempt<T>(
  { baseUrl, fetch }: ClientSettings,
  { method, path, query = {}, headers, body, read }: ClientRequest<T>,
  apiKey: string,
  signal: AbortSignal,
): Promise<T> {
  const parameters = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = parameters.map(([name, value]) => `${name}=${value}`).join('&');
  const response = await fetch(`${baseUrl}${path}${search && `?${search}`}`, {
    method,
    headers: {
      ...headers,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      Accept: 'application/json',
      Authorization: `Bearer ${apiKey}`,
    },
    body: body ?? null,
    signal,
    // The key is for this address only.
    redirect: 'manual',
    credentials: 'omit',
  });
  return readBody(response, await response.text(), read);
}

/** What a call rejects with, by what its last attempt rejected with. The path names an animal that was not found. */
function callError(cause: unknown, { baseUrl }: ClientSettings, path: string): Error {
  const [, petId = ''] = /^\/pets\/(.*)$/.exec(path) ?? [];
  if (cause instanceof ServiceError) return portErrorOf(cause, petId);
  return serviceUnavailable(`reaching ${new URL(baseUrl).origin}`, { cause });
}

/**
 * Whether a retry is safe and can help.
 * @param refusal what the service responded; `undefined` if its response did not arrive
 */
function isRetryable(refusal: ServiceError | undefined, idempotent = true): boolean {
  if (refusal === undefined) return idempotent;
  // The earlier request with the same key is soon done.
  if (refusal.code === 'idempotency_conflict') return true;
  const statuses = idempotent ? [408, 429, 502, 503, 504] : [408, 429];
  return statuses.includes(refusal.status);
}

/** The milliseconds before this retry. */
function pauseBefore(retry: number, { retryAfter = 0 }: Partial<ServiceError> = {}): number {
  const longest = Math.min(5000, 200 * 2 ** (retry - 1));
  return retryAfter * 1000 + Math.random() * longest;
}

/** Resolves after these milliseconds. Rejects with the signal's reason. */
function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
