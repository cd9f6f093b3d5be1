import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { HttpError, clientGone, payloadTooLarge } from '../error-responses.js';
import type { HttpInterface } from '../http-interface.js';
import { announcedLength, splitRequestTarget, type HttpRequest, type HttpResponse } from '../http-message.js';

/** The animal store as a request listener. It answers every request; serve it with a `NodeServer`. */
export function createNodeListener(http: HttpInterface): RequestListener {
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = new NodeRequest(request, response, http.settings.bodyLimit);
    writeResponse(request, response, await http.handle(sent));
  };
  return (request, response) => void respond(request, response).catch(() => response.destroy());
}

/** Writes a whole response. */
export function writeResponse(
  { method }: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
): void {
  const hasBody = status !== 204 && status !== 304;
  const length = hasBody && { 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(status, { ...headers, ...length });
  response.end(hasBody && method !== 'HEAD' ? body : undefined);
}

/** A request of `node:http` as the interface needs it, for transports whose framework hands out both objects. */
export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly seesSent = true;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #bodyLimit: number;

  /** @param bodyLimit the largest body that is read, in bytes: `settings.bodyLimit` of the interface */
  constructor(request: IncomingMessage, response: ServerResponse, bodyLimit: number) {
    const { method = '', url = '' } = request;
    this.method = method;
    ({ path: this.path, query: this.query } = splitRequestTarget(url));
    this.#request = request;
    this.#response = response;
    this.#bodyLimit = bodyLimit;
  }

  get remoteAddress(): string | undefined {
    return this.#request.socket.remoteAddress;
  }

  header(name: string): string | undefined {
    const values = rawHeaderValues(this.#request, name);
    return values.length > 1 ? values.join(', ') : values[0];
  }

  get #announcesBody(): boolean {
    const length = this.header('content-length');
    return length === undefined ? this.header('transfer-encoding') !== undefined : !/^0*$/.test(length);
  }

  async hasBody(): Promise<boolean> {
    if (!this.#announcesBody) return false;
    // A length says it. A client that waits for "100 Continue" has a body, and must not be asked for it here.
    if (this.header('content-length') !== undefined || this.header('expect') !== undefined) return true;
    const request = this.#request;
    if (request.readableLength === 0 && !request.complete)
      await Promise.race([once(request, 'readable'), once(request, 'close')]);
    return request.readableLength > 0;
  }

  readBody(): Promise<Uint8Array> {
    const request = this.#request;
    const limit = this.#bodyLimit;
    const chunks: Uint8Array[] = [];
    let length = 0;
    return new Promise((resolve, reject) => {
      if (announcedLength(this) > limit) throw payloadTooLarge(limit);
      const take = (chunk: Uint8Array): void => {
        length += chunk.length;
        chunks.push(chunk);
        if (length <= limit) return;
        request.off('data', take).pause();
        reject(payloadTooLarge(limit));
      };
      request.once('end', () => resolve(Buffer.concat(chunks)));
      request.once('error', (error) => reject(error instanceof HttpError ? error : clientGone()));
      request.once('close', () => reject(clientGone()));
      request.on('data', take);
    });
  }

  onGone(listener: () => void): void {
    this.#response.once('close', listener);
  }
}

/** The values of a header, named in lower case, in their order. `headers` of Node.js drops some of several. */
export function rawHeaderValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] ?? '';
    if (sent.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}
