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
  readonly #bodyLimit: number;
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  #length = 0;
  #ended = false;

  constructor(request: Request, bodyLimit: number, mount: string) {
    const [url = ''] = request.url.split('#', 1);
    const { path, query } = splitRequestTarget(url);
    this.method = request.method;
    this.path = path;
    this.originalPath = mount + path;
    this.query = query;
    this.#request = request;
    this.#bodyLimit = bodyLimit;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  async hasBody(): Promise<boolean> {
    if (!this.#hasStream()) return false;
    const announced = this.header('content-length');
    if (announced === undefined) await this.#readUpTo(1);
    return this.#length > 0 || Number(announced) > 0;
  }

  async readBody(): Promise<Uint8Array> {
    if (!this.#hasStream()) return new Uint8Array();
    const announced = announcedLength(this);
    if (!(announced > this.#bodyLimit)) await this.#readUpTo(this.#bodyLimit + 1);
    if (announced > this.#bodyLimit || this.#length > this.#bodyLimit) {
      this.#cancelBody();
      throw payloadTooLarge(this.#bodyLimit);
    }
    const [first] = this.#chunks;
    return first && this.#chunks.length === 1
      ? first
      : new Uint8Array(await new Blob(this.#chunks).arrayBuffer());
  }

  onGone(listener: () => void): void {
    const { signal } = this.#request;
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
  }

  /** @throws {HttpError} `internal_error`: something else has read the body. Some hosts then have none at all. */
  #hasStream(): boolean {
    const { body, bodyUsed } = this.#request;
    if ((bodyUsed || body?.locked) && this.#reader === undefined) throw bodyAlreadyRead();
    return body !== null;
  }

  /** Reads until it has this many bytes, or all. */
  async #readUpTo(length: number): Promise<void> {
    const reader = (this.#reader ??= this.#request.body?.getReader());
    if (reader === undefined) return;
    while (this.#length < length && !this.#ended) {
      const { done, value } = await reader.read().catch(() => {
        throw clientGone(); // A body breaks off when its client disconnects.
      });
      this.#ended = done;
      if (value === undefined) continue;
      this.#chunks.push(value);
      this.#length += value.byteLength;
    }
  }

  /** Does not wait: a slow runtime must not delay the response. */
  #cancelBody(): void {
    this.#reader ??= this.#request.body?.getReader();
    this.#reader?.cancel().catch(() => {});
  }
}
