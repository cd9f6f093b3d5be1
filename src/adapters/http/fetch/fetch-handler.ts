import { bodyAlreadyRead, clientDisconnected, payloadTooLarge } from '../error-responses.js';
import type { HttpInterface } from '../http-interface.js';
import { announcedLength, type HttpRequest, type HttpResponse } from '../http-message.js';

/**
 * The HTTP interface as a function from a Fetch request to its response. It uses only the Fetch standard, and never
 * rejects. It stops reading a body beyond `settings.bodyLimit`; the host limits the time for it. Aborting the
 * request's signal ends the work: the client has disconnected.
 */
export function createFetchHandler(http: HttpInterface): (request: Request) => Promise<Response> {
  return async (request) => {
    const received = new FetchRequest(request);
    try {
      return toResponse(await http.handle(received), request.method);
    } finally {
      received.end();
    }
  };
}

const encoder = new TextEncoder();

function toResponse({ status, headers, body }: HttpResponse, method: string): Response {
  if (status === 204 || status === 304) return new Response(null, { status, headers });
  const bytes = typeof body === 'string' ? encoder.encode(body) : (body as Uint8Array<ArrayBuffer>);
  return new Response(method === 'HEAD' ? null : bytes, {
    status,
    headers: { ...headers, 'Content-Length': String(bytes.byteLength) }, // for HEAD too
  });
}

/**
 * A Fetch request. Its URL is already normalised: dot segments are resolved, and some characters percent-encoded.
 */
class FetchRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #request: Request;
  #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  #disconnectListener: (() => void) | undefined;

  constructor(request: Request) {
    const { pathname, search } = new URL(request.url);
    this.method = request.method;
    this.path = pathname;
    this.query = search.slice(1);
    this.#request = request;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  /** @throws {HttpError} `internal_error`: other code has read the body */
  async readBody(limit: number): Promise<Uint8Array> {
    const { body, bodyUsed } = this.#request;
    if (bodyUsed || body?.locked) throw bodyAlreadyRead();
    if (body === null) return new Uint8Array();
    if (announcedLength(this) > limit) throw payloadTooLarge(limit);
    this.#reader = body.getReader();
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    for (;;) {
      const { done, value } = await this.#reader.read().catch((): never => {
        throw clientDisconnected(); // reading fails when the client disconnects
      });
      if (done) return new Uint8Array(await new Blob(chunks).arrayBuffer());
      length += value.byteLength;
      if (length > limit) throw payloadTooLarge(limit);
      chunks.push(value);
    }
  }

  onDisconnect(listener: () => void): void {
    const { signal } = this.#request;
    if (signal.aborted) return listener();
    this.#disconnectListener = listener;
    signal.addEventListener('abort', listener, { once: true });
  }

  /** Releases the signal, which a host may share among requests, and cancels a body whose reading has begun. */
  end(): void {
    if (this.#disconnectListener)
      this.#request.signal.removeEventListener('abort', this.#disconnectListener);
    // Not awaited: a slow runtime must not delay the response.
    this.#reader?.cancel().catch(() => {});
  }
}
