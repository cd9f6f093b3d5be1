import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { ServerLimits } from './server-limits.js';
import type { ServerRequest, ServerResponse } from './server-messages.js';

const NOTHING = Buffer.alloc(0);
/** Ends the headers of a request, and a body in chunks. */
const EMPTY_LINE = Buffer.from('\r\n\r\n');
/** How many pieces of input one connection may have parsed before others get their turn. */
const PIECES_PER_TURN = 16;

type Callback = (error?: Error | null) => void;

const isLineEnd = (byte: number | undefined): boolean => byte === 13 || byte === 10;

/** What all connections of a server share. */
export interface ServerState {
  readonly limits: ServerLimits;
  /** Every response closes its connection. */
  isDraining: boolean;
}

/** A request and its response. */
export interface Exchange {
  readonly request: ServerRequest;
  readonly response: ServerResponse;
}

/**
 * A client's connection, between the socket and `node:http`. It hands on the input in pieces, each ending where
 * a request may end, and stops at the end of a request until the response is out. So `node:http` never sees two
 * requests at once: a client that sends many and reads nothing costs one response and one chunk of input.
 */
export class Connection extends Duplex {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  readonly #socket: Socket;
  readonly #server: ServerState;
  #current: Exchange | undefined;
  #requests = 0;
  #input: Buffer = NOTHING;
  #inputEnded = false;
  #bodyLeft = 0;
  #isParsing = true;
  #isTurnPlanned = false;
  #isLast = false;
  #discarded = 0;
  #isIdle = false;
  #since = performance.now();
  #linger: NodeJS.Timeout | undefined;

  constructor(socket: Socket, server: ServerState) {
    super({ decodeStrings: false });
    this.#socket = socket;
    this.#server = server;
    ({
      remoteAddress: this.remoteAddress,
      remotePort: this.remotePort,
      localAddress: this.localAddress,
      localPort: this.localPort,
    } = socket);
    this.on('error', () => {}); // of the socket, which closes by itself
    socket.on('error', () => {});
    socket.on('close', () => this.destroy());
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('end', () => {
      this.#inputEnded = true;
      this.#parse();
    });
    // Node calls this when nothing was read or written, and the client took nothing of what is being written.
    socket.on('timeout', () => socket.writableLength > 0 && this.destroy());
  }

  /** The request whose headers were parsed and whose response is not out. */
  get current(): Exchange | undefined {
    return this.#current;
  }

  /** Whether input is still parsed. */
  get isParsing(): boolean {
    return this.#isParsing;
  }

  /** Called when the headers of a request were parsed. */
  begin(exchange: Exchange): void {
    this.#current = exchange;
    this.#requests += 1;
    this.#bodyLeft = Number(exchange.request.headers['content-length'] ?? 0);
    exchange.response.once('close', this.#finish);
  }

  /** Called when a response begins. Returns whether the connection closes after it, as it does after an unread body. */
  closesAfterResponse(): boolean {
    const request = this.#current?.request;
    const hasArrived =
      request?.complete ||
      (request?.headers['transfer-encoding'] === undefined && this.#input.length >= this.#bodyLeft);
    const { limits, isDraining } = this.#server;
    this.#isLast = !hasArrived || isDraining || this.#requests === limits.maxRequestsPerSocket;
    return this.#isLast;
  }

  /** Parses nothing more. Reads a little further input nevertheless: left unread, it would reset the connection. */
  stopParsing(): void {
    this.#isParsing = false;
    this.#input = NOTHING;
    this.#socket.resume();
  }

  /** Whether the client is too slow to send a request. */
  isLate(now: number): boolean {
    if (!this.#isParsing || this.#current?.request.complete) return false;
    const { requestTimeout, headersTimeout } = this.#server.limits;
    if (this.#current) return now - this.#since > requestTimeout;
    return !this.#isIdle && now - this.#since > headersTimeout;
  }

  /** Ends the connection if no request has begun since the time `before`. */
  endIfIdle(before: number): void {
    if (this.#current === undefined && this.#since < before) this.end();
  }

  /** Listeners may treat a connection as a socket; the limits of the server hold whatever they set. */
  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(enable?: boolean, initialDelay?: number): this {
    this.#socket.setKeepAlive(enable, initialDelay);
    return this;
  }

  override _read(): void {
    if (this.#input.length > 0) this.#parseSoon();
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, callback: Callback): void {
    this.#socket.write(chunk, encoding, callback);
    if (this.#socket.writableLength > 0) this.#socket.setTimeout(this.#server.limits.writeTimeout);
  }

  override _writev(
    chunks: Array<{ chunk: Buffer | string; encoding: BufferEncoding }>,
    callback: Callback,
  ): void {
    // `node:http` adds an empty chunk to the end of every response.
    const [first, second, ...more] = chunks;
    if (first && second?.chunk.length === 0 && more.length === 0)
      return this._write(first.chunk, first.encoding, callback);
    this.#socket.cork();
    for (const { chunk, encoding } of chunks.slice(0, -1)) this.#socket.write(chunk, encoding);
    const last = chunks.at(-1);
    this._write(last?.chunk ?? '', last?.encoding ?? 'latin1', callback);
    this.#socket.uncork();
  }

  /** Says that nothing more comes, then gives the client a moment to read what came and to close. */
  override _final(callback: () => void): void {
    this.stopParsing();
    this.#socket.end();
    this.#linger = setTimeout(() => this.destroy(), this.#server.limits.lingerTime).unref();
    callback();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.stopParsing();
    clearTimeout(this.#linger);
    this.#socket.destroy();
    callback(error);
  }

  #receive(chunk: Buffer): void {
    if (this.#isParsing) {
      this.#input = this.#input.length === 0 ? chunk : Buffer.concat([this.#input, chunk]);
      this.#parse();
    } else {
      this.#discarded += chunk.length;
      if (this.#discarded > this.#server.limits.lingerBytes) this.#socket.pause();
    }
  }

  #parse(): void {
    let length = 0;
    for (let pieces = 0; (length = this.#pieceLength()) > 0; pieces += 1) {
      if (pieces === PIECES_PER_TURN) {
        this.#parseSoon();
        break;
      }
      const input = this.#input;
      const isAll = length === input.length;
      this.#input = isAll ? NOTHING : input.subarray(length);
      if (this.#bodyLeft > 0) this.#bodyLeft -= length;
      if (this.#isIdle) {
        this.#isIdle = false;
        this.#since = performance.now();
      }
      this.push(isAll ? input : input.subarray(0, length));
    }
    if (!this.#isParsing) return;
    if (this.#input.length >= EMPTY_LINE.length) this.#socket.pause();
    else if (this.#inputEnded && this.#input.length === 0) this.push(null);
    else if (this.#socket.isPaused()) this.#socket.resume();
  }

  /** How much of the input may be parsed now: at most to the end of the current request. */
  #pieceLength(): number {
    const input = this.#input;
    if (input.length === 0 || this.#current?.request.complete || this.readableLength > 0) return 0;
    if (this.#bodyLeft > 0) return Math.min(this.#bodyLeft, input.length);
    const end = input.indexOf(EMPTY_LINE);
    if (end >= 0) return end + EMPTY_LINE.length;
    if (this.#inputEnded) return input.length;
    // The empty line may go on in the next chunk.
    let length = input.length;
    while (length > 0 && input.length - length < 3 && isLineEnd(input[length - 1])) length -= 1;
    return length;
  }

  #parseSoon(): void {
    if (this.#isTurnPlanned) return;
    this.#isTurnPlanned = true;
    setImmediate(() => {
      this.#isTurnPlanned = false;
      this.#parse();
    });
  }

  readonly #finish = (): void => {
    this.#current = undefined;
    this.#isIdle = true;
    this.#since = performance.now();
    if (this.#isLast) this.end();
    else if (this.#input.length > 0) this.#parseSoon();
  };
}

/** `node:http` takes connections of any kind, and types them as sockets. */
export const connectionOf = ({ socket }: ServerRequest): Connection => socket as unknown as Connection;
