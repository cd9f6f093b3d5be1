import { UnexpectedAnswerError } from './service-error.js';

/** What came back, complete. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  readonly requestId: string | undefined;
}

/**
 * Reads a response to its end.
 * @throws {UnexpectedAnswerError} it is a redirect, larger than `limit` bytes once decoded, or not UTF-8
 */
export async function readAnswer(response: Response, limit: number, signal: AbortSignal): Promise<Answer> {
  const { status, headers } = response;
  const requestId = headers.get('x-request-id') ?? undefined;
  const unexpected = (what: string, options?: ErrorOptions): UnexpectedAnswerError =>
    new UnexpectedAnswerError(what, { status, requestId, ...options });
  const reader = response.body?.getReader();
  const stop = (): void => void reader?.cancel().catch(() => {});
  // A fetch of one's own may not heed the signal.
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();

  if (response.type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(status)) {
    throw unexpected(
      'it is a redirect, and the API key is sent to no other place; baseUrl has to be the final one',
    );
  }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const decode = (bytes?: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (cause) {
      throw unexpected('it is not UTF-8', { cause });
    }
  };
  let body = '';
  let size = 0;
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    size += part.value.byteLength;
    if (size > limit) throw unexpected(`it is larger than ${limit} bytes`);
    body += decode(part.value);
  }
  return { status, headers, body: body + decode(), requestId };
}
