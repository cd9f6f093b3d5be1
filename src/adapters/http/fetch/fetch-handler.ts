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
 * @throws {TypeError} `mount` is not such a path, or an option does not exist.
 */
export function createFetchHandler(
  http: HttpInterface,
  options: { readonly mount?: string } = {},
): (request: Request) => Promise<Response> {
  const { mount = '' } = options;
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
    this.#reader = body.getReader();
    if (announcedLength(this) > limit) throw payloadTooLarge(limit);

    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    for (;;) {
      const { done, value } = await this.#reader.read().catch(failDisconnected);
      if (done) return new Uint8Array(await new Blob(chunks).arrayBuffer());
      chunks.push(value);
      length += value.byteLength;
      if (length > limit) throw payloadTooLarge(limit);
    }
  }

  onGone(listener: () => void): void {
    const { signal } = this.#request;
    if (signal.aborted) return listener();
    this.#onAbort = listener;
    signal.addEventListener('abort', listener, { once: true });
  }

  /** Ends the use of the request: a host may use one signal for many, and a client may still send its body. */
  end(): void {
    if (this.#onAbort) this.#request.signal.removeEventListener('abort', this.#onAbort);
    // Without waiting: a slow runtime must not delay the response.
    this.#reader?.cancel().catch(() => {});
  }
}

/** A body breaks off when its client disconnects. */
const failDisconnected = (): never => {
  throw clientDisconnected();
};
