import type { Call } from '../../../application/animal-store.js';
import { IdempotencyConflictError, UnavailableError, isAnimalStoreError } from '../../../domain/errors.js';
import type { Operation, OperationId } from '../operations.js';
import type { ClientSettings } from './client-options.js';
import {
  ResponseError,
  UnexpectedResponseError,
  responseError,
  type ReceivedResponse,
} from './response-errors.js';

const JSON_CONTENT = { 'Content-Type': 'application/json' };

/** A request of one operation. */
export interface ClientRequest {
  readonly operation: OperationId;
  /** Path and query below the base URL. */
  readonly target: string;
  readonly method: Operation['method'];
  /** The status of a successful response. */
  readonly success: Operation['success']['status'];
  /** Whether a retry is safe after an attempt whose outcome is unknown. Default: true. */
  readonly idempotent?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
}

/**
 * Sends a request and retries it with exponential backoff and full jitter until the call's deadline.
 * @throws what the last attempt failed with, or the signal's reason
 */
export async function sendRequest(
  settings: ClientSettings,
  request: ClientRequest,
  { signal }: Call,
): Promise<ReceivedResponse> {
  const { attemptDeadline, callDeadline, retries, onRetry } = settings;
  const end = performance.now() + callDeadline;
  // Once a call: idempotency keys belong to the API key, so another key in a retry would add a second animal.
  const apiKey = await within(callDeadline, signal, settings.apiKey);
  for (let retry = 1; ; retry += 1) {
    const timeout = Math.max(1, Math.min(attemptDeadline, end - performance.now()));
    try {
      return await within(timeout, signal, (ending) => attempt(settings, request, apiKey, ending));
    } catch (cause) {
      signal?.throwIfAborted();
      const error =
        isAnimalStoreError(cause) || cause instanceof ResponseError
          ? cause
          : new UnavailableError(`reaching ${reached(settings)}`, { cause });
      const delay = pauseBefore(retry, error, request.idempotent);
      if (delay === undefined || retry > retries || performance.now() + delay >= end) throw error;
      onRetry({ operation: request.operation, retry, delay, error });
      // The pause: nothing happens until the time is up.
      await within(delay, signal, () => new Promise(() => {})).catch(() => signal?.throwIfAborted());
    }
  }
}

/** The service's origin. In a page of another origin, a missing CORS header looks like a network failure. */
function reached({ baseUrl }: ClientSettings): string {
  const { origin } = new URL(baseUrl);
  const page = (globalThis as { location?: { readonly origin: string } }).location?.origin ?? origin;
  return page === origin ? origin : `${origin}, whose CORS_ORIGINS must include ${page}`;
}

async function attempt(
  { baseUrl, fetch }: ClientSettings,
  { target, method, success, headers: own, body: sent }: ClientRequest,
  apiKey: string,
  signal: AbortSignal,
): Promise<ReceivedResponse> {
  const response = await fetch(baseUrl + target, {
    method,
    headers: {
      ...own,
      ...(sent !== undefined && JSON_CONTENT),
      Accept: 'application/json',
      Authorization: `Bearer ${apiKey}`,
    },
    ...(sent !== undefined && { body: sent }),
    signal,
    // The key is for this address only.
    redirect: 'manual',
    credentials: 'omit',
  });
  const { status, headers } = response;
  const body: Uint8Array[] = [];
  const retryAfter = readRetryAfter(headers.get('retry-after') ?? '');
  const received = { status, headers, body, requestId: headers.get('x-request-id') ?? undefined, retryAfter };
  // Browsers hide the status of a redirect: they report 0.
  if ([0, 301, 302, 303, 307, 308].includes(status)) {
    const fault = 'it is a redirect, and the API key goes nowhere else; set baseUrl to the final address';
    throw new UnexpectedResponseError(fault, received);
  }
  let size = 0;
  const write = (part: Uint8Array): void => {
    size += part.byteLength;
    if (size > 64 * 2 ** 20) throw new UnexpectedResponseError('it is larger than 64 MiB', received);
    body.push(part);
  };
  // A fetch of the caller's own may ignore the signal.
  await response.body?.pipeTo(new WritableStream({ write }), { signal });
  if (status === success) return received;
  throw responseError(received, /^\/pets\/([^?]*)/.exec(target)?.[1] ?? '');
}

/** Milliseconds to wait before this retry; `undefined` if a retry is not safe or would not help. */
function pauseBefore(retry: number, error: Error, idempotent = true): number | undefined {
  const response = [error, error.cause].find((one) => one instanceof ResponseError);
  // A conflict ends soon, when the earlier request with the same key is done.
  const isConflict = error instanceof IdempotencyConflictError;
  const statuses = idempotent ? [408, 429, 502, 503, 504] : [408, 429];
  if (response ? !isConflict && !statuses.includes(response.status) : !idempotent) return undefined;
  return (response?.retryAfter ?? 0) * 1000 + Math.random() * Math.min(5000, 200 * 2 ** (retry - 1));
}

/** Seconds (RFC 9110, section 10.2.3); `undefined` if the header is absent or not valid. */
function readRetryAfter(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text);
  const time = text.endsWith(' GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - Date.now()) / 1000));
}

/**
 * Settles as `work` does, but at the latest after `timeout` milliseconds or on abort, even if `work` ignores its
 * signal.
 */
async function within<T>(
  timeout: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const ending = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const late = (): void => reject(new UnavailableError(`responding within ${Math.round(timeout)} ms`));
  const timer = setTimeout(late, timeout);
  const onAbort = (): void => reject(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(ending.signal), ended]);
  } catch (error) {
    // Releases what the work still holds: a connection, a body that is only half read.
    ending.abort();
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
