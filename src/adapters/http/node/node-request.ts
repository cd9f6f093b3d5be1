import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpError, clientGone, payloadTooLarge } from '../error-responses.js';
import { splitRequestTarget, type HttpRequest } from '../http-message.js';

/**
 * A request of `node:http` as the interface needs it, for transports whose framework gives both objects out:
 * nothing decoded, nothing dropped.
 */
export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #bodyLimit: number;

  /** @param bodyLimit how many bytes of body are read at most: `settings.bodyLimit` of the interface */
  constructor(request: IncomingMessage, response: ServerResponse, bodyLimit: number) {
    const { method = '', url = '' } = request;
    const { path, query } = splitRequestTarget(url);
    this.method = method;
    this.path = path;
    this.query = query;
    this.#request = request;
    this.#response = response;
    this.#bodyLimit = bodyLimit;
  }

  header(name: string): string | undefined {
    const values = this.#values(name);
    return values.length > 1 ? values.join(', ') : values[0];
  }

  get #announcesBody(): boolean {
    const length = this.header('content-length');
    return length === undefined ? this.header('transfer-encoding') !== undefined : !/^0*$/.test(length);
  }

  async hasBody(): Promise<boolean> {
    if (!this.#announcesBody) return false;
    // A length says it; who waits for "100 Continue" means to send something, and is not to be told to.
    if (this.header('content-length') !== undefined || this.header('expect') !== undefined) return true;
    const request = this.#request;
    if (request.readableLength === 0 && !request.complete)
      await Promise.race([once(request, 'readable'), once(request, 'close')]);
    return request.readableLength > 0;
  }

  async readBody(): Promise<Uint8Array> {
    const limit = this.#bodyLimit;
    if (Number(this.header('content-length') ?? 0) > limit) throw payloadTooLarge(limit);
    const chunks: Uint8Array[] = [];
    let length = 0;
    try {
      // Left early, the request must not be destroyed: its answer is still to be sent.
      for await (const chunk of this.#request.iterator({ destroyOnReturn: false })) {
        const bytes = chunk as Uint8Array;
        length += bytes.length;
        if (length > limit) throw payloadTooLarge(limit);
        chunks.push(bytes);
      }
    } catch (error) {
      throw error instanceof HttpError ? error : clientGone();
    }
    return Buffer.concat(chunks);
  }

  onGone(listener: () => void): void {
    // Also when the server has answered in the listener's place: a body that is no chunks ends in no other way.
    this.#response.once('close', listener);
  }

  /** Read raw: Node's `headers` drops repeated ones. */
  #values(name: string): string[] {
    const { rawHeaders } = this.#request;
    const values: string[] = [];
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const sent = rawHeaders[index] ?? '';
      if (sent.length === name.length && sent.toLowerCase() === name)
        values.push(rawHeaders[index + 1] ?? '');
    }
    return values;
  }
}
