import { bodyAlreadyRead, clientGone, payloadTooLarge } from '../error-responses.js';
import { announcedLength, splitRequestTarget, type HttpRequest } from '../http-message.js';

/**
 * A Fetch request. Of the request target only its URL is known, in which dot segments are resolved and a few
 * characters percent-encoded.
 */
export class FetchRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly originalPath: string;
  readonly query: string;
  readonly #request: Request;

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
    const reader = body.getReader();
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    let isTooLarge = announcedLength(this) > limit;
    while (!isTooLarge) {
      const { done, value } = await reader.read().catch(() => {
        throw clientGone(); // A body breaks off when its client disconnects.
      });
      if (done) {
        const [first = new Uint8Array()] = chunks;
        return chunks.length < 2 ? first : new Uint8Array(await new Blob(chunks).arrayBuffer());
      }
      chunks.push(value);
      length += value.byteLength;
      isTooLarge = length > limit;
    }
    reader.cancel().catch(() => {}); // does not wait: a slow runtime must not delay the response
    throw payloadTooLarge(limit);
  }

  onGone(listener: () => void): void {
    const { signal } = this.#request;
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
  }
}
