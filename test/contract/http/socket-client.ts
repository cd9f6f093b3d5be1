import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { headerValues, type RawResponse, type Conversation } from './conversation.js';
import type { RawRequest, RowRequest } from './request-row.js';

/** Bytes to send, and what to expect for them. */
export interface Message {
  readonly bytes: Uint8Array;
  /** Sent after "100 Continue". */
  readonly afterContinue?: Uint8Array | undefined;
  /** The method of each request in the bytes: a response to HEAD ends with its headers. */
  readonly methods: readonly string[];
}

/** The bytes of a request as an HTTP/1.1 message. */
export const messageOf = (
  request: RawRequest | RowRequest,
  host: string,
  responses: number,
): Message => ('raw' in request ? rawMessageOf(request, responses) : rowMessageOf(request, host));

function rawMessageOf({ raw }: RawRequest, responses: number): Message {
  const [method = ''] = raw.split(' ', 1);
  const methods = Array.from({ length: responses }, (_, index) => (index === 0 ? method : 'GET'));
  return { bytes: Buffer.from(raw, 'latin1'), methods };
}

function rowMessageOf(request: RowRequest, host: string): Message {
  const { method, target, headers, body = '', chunked, awaitsContinue } = request;
  const content = Buffer.from(body);
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const lines = [`${method} ${target} HTTP/1.1`];
  if (!names.has('host')) lines.push(`Host: ${host}`);
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  // The names of codings are not case-sensitive (RFC 9112, 7).
  if (chunked) lines.push('Transfer-Encoding: Chunked');
  else if (request.body !== undefined && !names.has('content-length'))
    lines.push(`Content-Length: ${content.length}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  const framed = chunked ? inChunks(content) : content;
  return awaitsContinue
    ? { bytes: head, afterContinue: framed, methods: [method] }
    : { bytes: Buffer.concat([head, framed]), methods: [method] };
}

const CHUNK = 50_000;

function inChunks(content: Uint8Array): Buffer {
  const parts: Uint8Array[] = [];
  for (let start = 0; start < content.length; start += CHUNK) {
    const chunk = content.subarray(start, start + CHUNK);
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

/** How long `converse` waits for what it wants, in milliseconds. */
const PATIENCE = 5000;

/**
 * Sends bytes on a new connection. Waits for the responses or, with `untilClosed`, for the server to close, but no longer
 * than `PATIENCE`: resolves to what has arrived by then. It never closes its side first: only the server decides whether
 * the connection stays open.
 */
export async function converse(
  url: URL,
  message: Message,
  untilClosed: boolean,
): Promise<Conversation> {
  const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
  const reader = new ResponseReader(message.methods);
  const finished = new AbortController();
  let closed = false;
  let began = 0; // when sending began
  let milliseconds = 0;
  const arrived = Promise.withResolvers<void>();
  const isDone = (): boolean =>
    untilClosed ? closed : reader.responses.length >= message.methods.length;
  socket.on('data', (bytes) => {
    const before = reader.responses.length + reader.interim.length;
    try {
      reader.read(bytes);
    } catch (error) {
      arrived.reject(error); // not HTTP: nothing more can be read
      socket.destroy();
      return;
    }
    if (before === 0) milliseconds = performance.now() - began;
    if (message.afterContinue && before === 0 && reader.interim.length > 0)
      socket.write(message.afterContinue);
    if (isDone()) arrived.resolve();
  });
  socket.on('end', () => {
    reader.end();
    closed = reader.rest.length === 0;
    arrived.resolve();
  });
  // A server that closes early may refuse what is still being sent: its response must have arrived by then.
  socket.on('error', (error) =>
    reader.responses.length > 0 ? arrived.resolve() : arrived.reject(error),
  );
  socket.on('close', () => arrived.resolve());
  arrived.promise.catch(() => {}); // if the connection fails, nobody awaits it
  await once(socket, 'connect');
  began = performance.now();
  // Without a response to wait for, the client leaves once its bytes are sent.
  socket.write(message.bytes, () => (message.methods.length === 0 ? arrived.resolve() : undefined));
  try {
    const late = delay(PATIENCE, undefined, { signal: finished.signal, ref: false }).catch(
      () => {},
    );
    await Promise.race([arrived.promise, late]);
    return { responses: reader.responses, interim: reader.interim, closed, milliseconds };
  } finally {
    finished.abort();
    await destroyed(socket);
  }
}

async function destroyed(socket: Socket): Promise<void> {
  if (socket.closed) return;
  const closed = once(socket, 'close');
  socket.destroy();
  await closed;
}

type Head = Pick<RawResponse, 'status' | 'headers'>;

/** Parses HTTP/1.1 responses as they arrive. */
export class ResponseReader {
  readonly responses: RawResponse[] = [];
  readonly interim: number[] = [];
  readonly #methods: readonly string[];
  /** The bytes after the last complete response. */
  rest: Buffer = Buffer.alloc(0);
  /** A response without a length: it ends with the connection. */
  #endless: Head | undefined;

  constructor(methods: readonly string[]) {
    this.#methods = methods;
  }

  read(bytes: Buffer): void {
    this.rest = Buffer.concat([this.rest, bytes]);
    while (this.#endless === undefined && this.#readOne());
  }

  /** The server has closed the connection. */
  end(): void {
    if (this.#endless) this.#add(this.#endless, this.rest, this.rest.length);
    this.#endless = undefined;
  }

  #readOne(): boolean {
    const end = this.rest.indexOf('\r\n\r\n');
    if (end === -1) return false;
    const [statusLine = '', ...lines] = this.rest.toString('latin1', 0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    if (Number.isNaN(status)) throw new Error(`not an HTTP/1.1 status line: ${statusLine}`);
    const headers = lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
    const start = end + 4;
    if (status < 200) {
      this.rest = this.rest.subarray(start);
      this.interim.push(status);
      return true;
    }
    const head = { status, headers };
    const hasBody =
      this.#methods[this.responses.length] !== 'HEAD' && status !== 204 && status !== 304;
    const [length] = headerValues(head, 'Content-Length');
    if (!hasBody) return this.#add(head, Buffer.alloc(0), start);
    if (headerValues(head, 'Transfer-Encoding').join() === 'chunked')
      return this.#addChunked(head, start);
    if (length === undefined) {
      this.rest = this.rest.subarray(start);
      this.#endless = head;
      return false;
    }
    const bodyEnd = start + Number(length);
    return (
      this.rest.length >= bodyEnd && this.#add(head, this.rest.subarray(start, bodyEnd), bodyEnd)
    );
  }

  #addChunked(head: Head, start: number): boolean {
    const chunks: Buffer[] = [];
    for (let at = start; ;) {
      const lineEnd = this.rest.indexOf('\r\n', at);
      if (lineEnd === -1) return false;
      const size = Number.parseInt(this.rest.toString('latin1', at, lineEnd), 16);
      const chunkEnd = lineEnd + 2 + size;
      if (this.rest.length < chunkEnd + 2) return false;
      if (size === 0) return this.#add(head, Buffer.concat(chunks), chunkEnd + 2);
      chunks.push(this.rest.subarray(lineEnd + 2, chunkEnd));
      at = chunkEnd + 2;
    }
  }

  #add(head: Head, body: Buffer, end: number): true {
    this.responses.push({ ...head, body });
    this.rest = this.rest.subarray(end);
    return true;
  }
}
