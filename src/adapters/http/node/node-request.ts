import type { IncomingMessage, ServerResponse } from 'node:http';
import { types } from 'node:util';
import type { Principal } from '../../../application/ports/authenticator.js';
import {
  HttpError,
  bodyAlreadyRead,
  clientDisconnected,
  payloadTooLarge,
} from '../error-responses.js';
import type { HttpInterface } from '../http-interface.js';
import {
  announcedLength,
  splitRequestTarget,
  type HttpRequest,
  type HttpResponse,
} from '../http-message.js';
import { Gate } from './gate.js';
import { rawHeaderValues } from './refusals.js';

export function writeResponse(
  { method }: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
): void {
  const hasBody = status !== 204 && status !== 304;
  const content = contentOf(body);
  const length = hasBody && { 'Content-Length': Buffer.byteLength(content) };
  response.writeHead(status, { ...headers, ...length });
  response.end(hasBody && method !== 'HEAD' ? content : undefined);
}

/** As bytes what the operating system may not take at once: of buffered text, streams count the characters. */
export const contentOf = (body: string): string | Buffer =>
  body.length > 64 * 1024 ? Buffer.from(body) : body;

/** What body parsers add to a message: the bytes of the body, and what they made of it. */
interface ParsedMessage {
  readonly rawBody?: unknown;
  readonly body?: unknown;
}

/** A message in a framework, which may add the target as it was before it removed a prefix. */
type HostMessage = IncomingMessage & ParsedMessage & { readonly originalUrl?: unknown };

/**
 * A request of `node:http` as the interface needs it, for transports whose framework exposes request and response of
 * `node:http`. It honours what earlier handlers did: headers that they set or removed, and a body that they have
 * read.
 */
export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #request: HostMessage;
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse) {
    const { method = '', url = '' } = request;
    const target = splitRequestTarget(url, method);
    this.method = method;
    this.path = target.path;
    this.query = target.query;
    this.#request = request;
    this.#response = response;
  }

  get originalPath(): string | undefined {
    const { originalUrl } = this.#request;
    return typeof originalUrl === 'string' ? splitRequestTarget(originalUrl).path : undefined;
  }

  get remoteAddress(): string | undefined {
    return this.#request.socket?.remoteAddress;
  }

  /** Lets a `NodeServer` count for the key what the client leaves unread of the response. */
  onAuthenticated({ keyId }: Principal): void {
    const gate: unknown = this.#request.socket;
    if (gate instanceof Gate) gate.unread.keyId = keyId;
  }

  /** Runs it once this and all other responses that are ready are written, before the event loop goes on. */
  afterResponse(task: () => void): void {
    process.nextTick(task);
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name]?.toString();
    if (value === undefined) return undefined;
    const sent = rawHeaderValues(this.#request, name);
    // Of some headers Node.js drops all but the first.
    return sent.length > 1 && value === sent[0] ? sent.join(', ') : value;
  }

  async readBody(limit: number): Promise<Uint8Array> {
    const read = this.#bodyReadBefore();
    const length = read ? read.length : announcedLength(this);
    if (length > limit) throw payloadTooLarge(limit);
    if (read) return read;
    // Node.js discards the rest only of a body that nobody has begun to read; else it would hold the connection.
    this.#response.once('finish', () => this.#request.resume());
    return this.receive(limit);
  }

  onGone(listener: () => void): void {
    const response = this.#response;
    // No event comes any more if the client has already disconnected.
    if (response.closed || response.destroyed) listener();
    else response.once('close', listener);
  }

  /** Reads the body from the connection, up to `limit` bytes. */
  protected receive(limit: number): Promise<Uint8Array> {
    const request = this.#request;
    const chunks: Uint8Array[] = [];
    let length = 0;
    return new Promise((resolve, reject) => {
      const take = (chunk: Uint8Array): void => {
        length += chunk.length;
        chunks.push(chunk);
        if (length <= limit) return;
        request.off('data', take).pause();
        reject(payloadTooLarge(limit));
      };
      request.once('end', () => resolve(Buffer.concat(chunks)));
      request.once('error', (error) =>
        reject(error instanceof HttpError ? error : clientDisconnected()),
      );
      request.once('close', () => {
        // Checked first: an error that nobody gets would cost 50 us, for its stack.
        if (!request.readableEnded) reject(clientDisconnected());
      });
      request.on('data', take);
    });
  }

  /** The body that another parser has read and kept. */
  protected get keptBody(): Uint8Array | undefined {
    return bytesIn(this.#request);
  }

  /**
   * The body if another parser has read it. Exact if the parser kept bytes; text has lost what was not UTF-8.
   * @throws {HttpError} `internal_error`: the parser kept neither
   */
  #bodyReadBefore(): Uint8Array | undefined {
    const { readableDidRead, readableEncoding, readableEnded, destroyed } = this.#request;
    const kept = this.keptBody;
    if (kept && (kept.length > 0 || readableEnded)) return kept;
    // With an encoding set, the stream yields text instead of bytes.
    if (readableDidRead || readableEncoding || (destroyed && !readableEnded))
      throw bodyAlreadyRead();
    return readableEnded ? new Uint8Array() : undefined;
  }
}

/** The body that a parser has kept on a message: bytes, or text, which has lost what was not UTF-8. */
export function bytesIn({ rawBody, body }: ParsedMessage): Uint8Array | undefined {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  return [rawBody, body].find(types.isUint8Array);
}

/**
 * The animal store as a `RequestListener`, which is also a middleware of Express and its like. It answers every request,
 * resolves when the response is written, and never rejects.
 *
 * `passFaults` passes faults, which are responses of 500 and above, to `next` where the host gives one, as Express does:
 * its error handlers respond then. Default: no, the interface responds.
 */
export function createNodeListener(
  http: HttpInterface,
  { passFaults = false }: { readonly passFaults?: boolean } = {},
) {
  return async (
    request: IncomingMessage,
    response: ServerResponse,
    // A default, because hosts read `listener.length`, and leave the response to others if it is three.
    next: ((fault: Error) => unknown) | null = null,
  ): Promise<void> => {
    try {
      const answer = await http.handle(new NodeRequest(request, response));
      if (passFaults && answer.fault && next) next(answer.fault);
      else writeResponse(request, response, answer);
    } catch {
      if (!response.headersSent) response.destroy(); // a header is not valid; else the host has responded
    }
  };
}
