import type { Call } from '../../../application/animal-store.js';
import { UnavailableError } from '../../../domain/errors.js';
import type { OperationId } from '../operations.js';
import type { ClientSettings } from './client-options.js';
import { UnexpectedResponseError, responseError, type ReceivedResponse } from './response-errors.js';

/** A request of one operation. Every request may be retried: reads change nothing, and creates carry a key. */
export interface ClientRequest {
  readonly operation: OperationId;
  readonly method: 'GET' | 'POST';
  /** Path and query below the base URL. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The status of success. */
  readonly status: number;
  /** The requested animal, for the error if it does not exist. */
  readonly petId?: string;
}

/** The service did not process the request, or a retry is safe whatever it did. */
const RETRIED: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/** The largest upper bound of a pause, in milliseconds, without what `Retry-After` adds. */
const MAX_RETRY_DELAY = 5000;

/**
 * Sends a request and retries it with exponential backoff and full jitter until the call's deadline.
 * @throws what the last attempt failed with, or the signal's reason
 */
export async function sendRequest(
  settings: ClientSettings,
  request: ClientRequest,
  { signal }: Call,
): Promise<ReceivedResponse> {
  const { attemptDeadline, callDeadline, retries, retryDelay, onRetry } = settings;
  const end = performance.now() + callDeadline;
  signal?.throwIfAborted();
  // Once a call: idempotency keys belong to the API key, so another key in a retry would add a second animal.
  const apiKey = await within(callDeadline, signal, () => settings.apiKey());
  for (let attempts = 1; ; attempts += 1) {
    const timeout = Math.max(1, Math.min(attemptDeadline, end - performance.now()));
    const result = await attempt(settings, request, apiKey, { signal, timeout });
    if (!('error' in result)) return result;
    const { error, isRetryable, retryAfter = 0 } = result;
    const bound = Math.min(MAX_RETRY_DELAY, retryDelay * 2 ** (attempts - 1));
    const delay = retryAfter * 1000 + Math.random() * bound;
    if (!isRetryable || attempts > retries || performance.now() + delay >= end) throw error;
    onRetry({ operation: request.operation, retry: attempts, delay, error });
    await pause(delay, signal);
  }
}

interface Failure {
  readonly error: Error;
  readonly isRetryable: boolean;
  /** In seconds. */
  readonly retryAfter?: number | undefined;
}

async function attempt(
  { baseUrl, fetch, responseLimit }: ClientSettings,
  request: ClientRequest,
  apiKey: string,
  { signal, timeout }: Call & { readonly timeout: number },
): Promise<ReceivedResponse | Failure> {
  const { method, headers, body } = request;
  let response: ReceivedResponse;
  try {
    response = await within(timeout, signal, async (ending) => {
      const init: RequestInit = {
        method,
        headers: { ...headers, Accept: 'application/json', Authorization: `Bearer ${apiKey}` },
        ...(body !== undefined && { body }),
        signal: ending,
        // The key is for this address only.
        redirect: 'manual',
        credentials: 'omit',
      };
      return receive(await fetch(baseUrl + request.target, init), responseLimit, ending);
    });
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof UnexpectedResponseError) throw cause;
    const error =
      cause instanceof UnavailableError ? cause : new UnavailableError('reaching the service', { cause });
    return { error, isRetryable: true };
  }
  if (response.status === request.status) return response;
  const retryAfter = readRetryAfter(response.headers.get('retry-after'));
  const error = responseError(response, retryAfter, request.petId ?? '');
  // A conflict ends soon, when the earlier request with the same key is done.
  const isConflict = 'code' in error && error.code === 'idempotency_conflict';
  return { error, isRetryable: RETRIED.has(response.status) || isConflict, retryAfter };
}

/** @throws {UnexpectedResponseError} it is a redirect, too large, or not UTF-8 */
async function receive(response: Response, limit: number, signal: AbortSignal): Promise<ReceivedResponse> {
  const { status, headers } = response;
  const requestId = headers.get('x-request-id') ?? undefined;
  const reader = response.body?.getReader();
  // A fetch of the caller's own may ignore the signal.
  const cancel = (): void => void reader?.cancel().catch(() => {});
  signal.addEventListener('abort', cancel);
  if (signal.aborted) cancel();

  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400 && headers.has('location'))) {
    throw new UnexpectedResponseError(
      'it is a redirect, and the client sends the API key nowhere else; set baseUrl to the final address',
      { status, requestId },
    );
  }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const decode = (bytes?: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (cause) {
      throw new UnexpectedResponseError('it is not UTF-8', { status, requestId, cause });
    }
  };
  let body = '';
  let size = 0;
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    size += part.value.byteLength;
    if (size > limit) {
      throw new UnexpectedResponseError(`it is larger than ${limit} bytes`, { status, requestId });
    }
    body += decode(part.value);
  }
  return { status, headers, body: body + decode(), requestId };
}

/** Seconds (RFC 9110, section 10.2.3); `undefined` if the header is absent or not valid. */
function readRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const time = text.endsWith(' GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - Date.now()) / 1000));
}

/** Settles as `work` does, but at the latest after `timeout` milliseconds or on abort, even if `work` ignores its signal. */
async function within<T>(
  timeout: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
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

async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  const onAbort = (): void => reject(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
