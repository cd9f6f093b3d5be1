import type { IncomingMessage, ServerResponse } from 'node:http';
import { types } from 'node:util';
import {
  HttpError,
  bodyAlreadyRead,
  clientDisconnected,
  payloadTooLarge,
} from '../error-responses.js';
import { announcedLength, splitRequestTarget, type HttpRequest } from '../http-message.js';

/**
 * A request of `node:http` as the interface needs it, for frameworks that expose request and response of `node:http`.
 * It uses the headers that earlier handlers set or removed, and a body that they have read and kept.
 */
export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse) {
    const { method = '', url = '' } = request;
    const target = splitRequestTarget(url);
    this.method = method;
    this.path = target.path;
    this.query = target.query;
    this.#request = request;
    this.#response = response;
  }

  get remoteAddress(): string | undefined {
    return this.#request.socket?.remoteAddress;
  }

  header(name: string): string | undefined {
    const { headers, rawHeaders } = this.#request;
    const value = headers[name]?.toString();
    if (!ONLY_FIRST.has(name)) return value;
    const sent = valuesOf(rawHeaders ?? [], name);
    // If the host has set another value, that counts.
    return sent.length > 1 && value === sent[0] ? sent.join(', ') : value;
  }

  async readBody(limit: number): Promise<Uint8Array | string> {
    const request = this.#request;
    const kept = keptBody(request, (request as ParsedMessage).rawBody, limit);
    if (kept !== undefined) return kept;
    if (announcedLength(this) > limit) throw payloadTooLarge(limit);
    // Node.js discards a body only if nobody has begun to read it. Else the rest would block the connection.
    this.#response.once('finish', () => request.resume());
    return receive(request, limit);
  }

  onDisconnect(listener: () => void): void {
    const response = this.#response;
    // No event comes any more if the client has already disconnected.
    if (response.closed || response.destroyed) listener();
    else response.once('close', listener);
  }

  onSent(listener: () => void): void {
    this.onDisconnect(listener); // a response also closes when it is sent
  }
}

/** Headers of the interface of which Node.js keeps only the first value. */
const ONLY_FIRST: ReadonlySet<string> = new Set(['authorization', 'content-type', 'user-agent']);

/**
 * The values of a header in `rawHeaders`, a list of names and values. `headersDistinct` takes 3 µs for each request.
 */
export function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  return values;
}

/** Reads a body from the connection, up to `limit` bytes. */
function receive(request: IncomingMessage, limit: number): Promise<Uint8Array> {
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
      // Checked first: an error that nobody gets would cost 50 µs, for its stack.
      if (!request.readableEnded) reject(clientDisconnected());
    });
    request.on('data', take);
  });
}

/** What the body parser of a host adds to a message: the bytes or the text of the body, and what it made of them. */
type ParsedMessage = IncomingMessage & { readonly rawBody?: unknown; readonly body?: unknown };

/**
 * The body if another parser has read it; bytes are exact, text has lost what was not UTF-8.
 * @param rawBody what the parser kept
 * @throws {HttpError} `payload_too_large`, or `internal_error`: the parser kept neither
 */
export function keptBody(
  request: ParsedMessage,
  rawBody: unknown,
  limit: number,
): Uint8Array | string | undefined {
  const { body, readableDidRead, readableEncoding, readableEnded, destroyed } = request;
  const kept = typeof rawBody === 'string' ? rawBody : [rawBody, body].find(types.isUint8Array);
  if (kept?.length) {
    if (Buffer.byteLength(kept) <= limit) return kept;
    throw payloadTooLarge(limit);
  }
  if (readableEnded && !readableDidRead) return ''; // it was empty
  // With an encoding set, the stream yields text instead of bytes.
  if (readableDidRead || readableEncoding) throw bodyAlreadyRead();
  if (destroyed) throw clientDisconnected();
  return undefined;
}
