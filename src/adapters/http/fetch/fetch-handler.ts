import {
  bodyAlreadyRead,
  clientDisconnected,
  errorResponse,
  payloadTooLarge,
} from '../error-responses.js';
import type { HttpInterface } from '../http-interface.js';
import {
  announcedLength,
  splitRequestTarget,
  type HttpRequest,
  type HttpResponse,
} from '../http-message.js';
import { requestId } from '../request-headers.js';

/**
 * The HTTP interface as a function from a Fetch request to its response, with nothing but the Fetch standard. It reads
 * no more of a body than `settings.bodyLimit`, and waits no longer for it than `settings.bodyDeadline`. It never
 * rejects. Aborting the request's signal ends the work: the client has disconnected.
 *
 * `mount` is the path that the host removes before it calls the handler: Location and Link begin with it. It begins
 * with a slash and does not end with one, such as `/shop`. Default: none.
 * @throws {TypeError} `mount` is not such a path.
 */
export function createFetchHandler(
  http: HttpInterface,
  { mount = '' }: { readonly mount?: string } = {},
): (request: Request) => Promise<Response> {
  if (!/^(?:\/[^/?#]+)*$/.test(mount)) throw new TypeError('mount must be a path such as /shop');
  return async (request) => {
    const sent = new FetchRequest(request, mount);
    try {
      return toResponse(await http.handle(sent), sent.method);
    } catch (error) {
      // A header is not valid. If this rejected, the server would respond in its own way.
      const id = requestId(request.headers.get('x-request-id') ?? undefined);
      return toResponse(errorResponse(error, id), request.method);
    } finally {
      sent.end();
    }
  };
}

const utf8 = new TextEncoder();

function toResponse({ status, headers, body }: HttpResponse, method: string): Response {
  if (status === 204 || status === 304) return new Response(null, { status, headers });
  const bytes = utf8.encode(body);
  return new Response(method === 'HEAD' ? null : bytes, {
    status,
    headers: { ...headers, 'Content-Length': String(bytes.byteLength) }, // For HEAD too.
  });
}

/**
 * A Fetch request. Of the request target only its URL is known, in which dot segments are resolved and a few
 * characters percent-encoded.
 */
class FetchRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly originalPath: string;
  readonly query: string;
  readonly #request: Request;
  #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  #onAbort: (() => void) | undefined;

  constructor(request: Request, mount: string) {
    const [url = ''] = request.url.split('#', 1);
    const { path, query } = splitRequestTarget(url);
    this.method = request.method;
    this.path = path;
    this.originalPath = mount + path;
    this.query = query;
    this.#request = request;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  /** @throws {HttpError} `internal_error`: something else has read the body. Some hosts then have none at all. */
  async readBody(limit: number): Promise<Uint8Array> {
    const { body, bodyUsed } = this.#request;
    if (bodyUsed || body?.locked) throw bodyAlreadyRead();
    if (body === null) return new Uint8Array();
    const reader = (this.#reader = body.getReader());
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    let isTooLarge = announcedLength(this) > limit;
    while (!isTooLarge) {
      const { done, value } = await reader.read().catch(() => {
        throw clientDisconnected(); // A body breaks off when its client disconnects.
      });
      if (done) {
        const [first = new Uint8Array()] = chunks;
        return chunks.length < 2 ? first : new Uint8Array(await new Blob(chunks).arrayBuffer());
      }
      chunks.push(value);
      length += value.byteLength;
      isTooLarge = length > limit;
    }
    throw payloadTooLarge(limit);
  }

  onGone(listener: () => void): void {
    const { signal } = this.#request;
    if (signal.aborted) listener();
    else signal.addEventListener('abort', (this.#onAbort = listener), { once: true });
  }

  /** Once there is a response: a host may use one signal for many requests, and a client may still send its body. */
  end(): void {
    if (this.#onAbort) this.#request.signal.removeEventListener('abort', this.#onAbort);
    this.#reader?.cancel().catch(() => {}); // does not wait: a slow runtime must not delay the response
  }
}
