import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { ServerLimits } from './server-limits.js';
import type { ServerRequest, ServerResponse } from './server-messages.js';
import type { FairScheduler, Waiting } from './fair-scheduler.js';

const NOTHING = Buffer.alloc(0);
/** Ends the headers of a request, and a body in chunks. */
const EMPTY_LINE = Buffer.from('\r\n\r\n');
/** How much input may wait for a response before the socket is paused, in bytes. */
const MOST_WAITING = 16 * 1024;
/** How many pieces of a body are parsed before other connections get their turn. */
const PIECES_PER_TURN = 16;

/** What listeners and `node:http` expect of a socket, and a stream lacks or answers for itself. */
const OF_THE_SOCKET =
  'address,bytesRead,bytesWritten,localAddress,localFamily,localPort,ref,remoteFamily,remotePort,setKeepAlive,setNoDelay,unref,writableCorked';

type Callback = (error?: Error | null) => void;

/** The part of `AdmissionControl` that the server calls. */
interface Observer {
  accepted(): void;
  countUnsent(keyId: string, bytes: number): void;
}

/** What the connections of a server share. */
export interface ServerState {
  readonly limits: ServerLimits;
  /** The connections that wait for their clients, for a request or for reading. The first has waited longest. */
  readonly waiting: Set<Connection>;
  readonly scheduler: FairScheduler;
  /** Counts connections and unread responses. */
  readonly admission?: Observer | undefined;
  /** When the server began to drain: since then every response closes its connection. */
  drainedAt?: number;
  /** Whether the server stops: idle connections end soon. */
  isStopping?: boolean;
}

/**
 * A client's connection, between the socket and `node:http`. It passes the input on in pieces, and pauses after each
 * request until the response has been sent. So `node:http` never sees two requests at once: a client that pipelines
 * many and reads nothing costs one response and one chunk of input.
 */
export class Connection extends Duplex implements Waiting {
  static {
    for (const name of OF_THE_SOCKET.split(',') as Array<keyof Socket>) {
      const get = function (this: Connection): unknown {
        const value: unknown = this.#socket[name];
        return typeof value === 'function' ? value.bind(this.#socket) : value;
      };
      Object.defineProperty(this.prototype, name, { get });
    }
  }

  readonly remoteAddress: string | undefined;
  /** The response to the request in progress, whose headers were parsed. */
  response: ServerResponse | undefined;
  /** The id of the API key of that request; empty while it is unknown. */
  keyId = '';
  /** Whether input is still parsed. */
  isParsing = true;
  deferredAt: number | undefined;
  readonly #socket: Socket;
  readonly #server: ServerState;
  #requests = 0;
  #input: Buffer = NOTHING;
  #bodyLeft = 0;
  #isLast = false;
  #isIdle = false;
  #since = performance.now();
  #discarded = 0;
  #unsent = 0;
  #unsentBy = '';
  #unsentSince = 0;
  #linger: NodeJS.Timeout | undefined;

  constructor(socket: Socket, server: ServerState) {
    super({ decodeStrings: false });
    this.remoteAddress = socket.remoteAddress; // known after it has closed, too
    this.#socket = socket;
    this.#server = server;
    server.waiting.add(this);
    this.on('error', () => {}); // the socket closes after it
    socket.on('error', () => {});
    socket.on('close', () => this.destroy());
    socket.on('drain', () => {
      this.#countUnsent();
      this.emit('drain');
    });
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    // After the first request, which waits for a turn.
    socket.on('end', () => (this.#requests === 0 ? setImmediate(this.#endInput) : this.#endInput()));
  }

  readonly #endInput = (): void => {
    this.#input = NOTHING; // as in Node.js, a client that ends its side waits for no further response
    if (this.response) this.push(null);
    else this.end();
  };

  /** The API key is unknown before parsing. So new connections alternate with those that have sent a request. */
  get caller(): string {
    return this.#requests === 0 ? 'new' : '';
  }

  get isGone(): boolean {
    return this.#socket.destroyed;
  }

  /** Whether a further request has come before the response. */
  get pipelines(): boolean {
    return this.#input.length > this.#bodyLeft;
  }

  /** Called when the headers of a request were parsed. */
  begin(response: ServerResponse): void {
    this.response = response;
    this.keyId = '';
    this.#server.waiting.delete(this);
    response.decideLast = () => this.#decideLast(response.req);
    this.#requests += 1;
    this.#bodyLeft = Number(response.req.headers['content-length'] ?? 0);
    response.once('close', this.#finish);
  }

  /** Whether the response is the connection's last. A response that does not wait for the body is. */
  #decideLast({ complete, headers }: ServerRequest): boolean {
    const { limits, drainedAt } = this.#server;
    const isHere =
      complete || (headers['transfer-encoding'] === undefined && this.#input.length >= this.#bodyLeft);
    this.#isLast = !isHere || drainedAt !== undefined || this.#requests === limits.maxRequestsPerSocket;
    return this.#isLast;
  }

  /** Stops parsing, and discards further input: unread input would reset the connection. */
  stopParsing(): void {
    this.isParsing = false;
    this.#input = NOTHING;
    this.#socket.resume();
  }

  /** Called regularly. Ends a connection that was idle or unread for too long; returns whether its request is late. */
  check(now: number): boolean {
    const { limits, drainedAt = 0, isStopping } = this.#server;
    const { keepAliveTimeout, stopGrace, requestTimeout, headersTimeout, writeTimeout } = limits;
    if (this.#unsent > 0 && now - this.#unsentSince > writeTimeout) this.destroy();
    const waited = now - this.#since;
    if (this.response) return !this.response.req.complete && this.isParsing && waited > requestTimeout;
    const isOver = isStopping ? Math.min(waited, now - drainedAt) > stopGrace : waited > keepAliveTimeout;
    if (isOver) this.end();
    return !isOver && !this.#isIdle && waited > headersTimeout;
  }

  /** For `request.setTimeout` and its like, which have no effect: the limits of the server hold. */
  setTimeout(): this {
    return this;
  }

  override resume(): this {
    if (this.#input.length > 0) this.#server.scheduler.defer(this);
    return super.resume();
  }

  /** Does nothing: `start` emits the input, which needs no second buffer. */
  override _read(): void {}

  /** Writes straight to the socket: a second buffer before its own would only cost time. */
  override write(chunk: Buffer | string, encoding?: BufferEncoding | Callback, callback?: Callback): boolean {
    const isTaken = this.#socket.write(chunk, encoding as BufferEncoding, callback);
    this.#countUnsent();
    return isTaken;
  }

  override cork(): void {
    this.#socket.cork();
  }

  override uncork(): void {
    this.#socket.uncork();
    this.#countUnsent();
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, callback: Callback): void {
    this.#socket.write(chunk, encoding, callback);
  }

  /** Ends the server's side, then gives the client a moment to read and to close. */
  override _final(callback: Callback): void {
    this.stopParsing();
    this.#socket.end();
    this.#linger = setTimeout(() => this.destroy(), this.#server.limits.lingerTime).unref();
    callback();
  }

  override _destroy(error: Error | null, callback: Callback): void {
    this.stopParsing();
    // Else the operating system would offer megabytes of the response to a stalled client for minutes.
    if (this.#unsent > 0) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
    this.#countUnsent();
    clearTimeout(this.#linger);
    this.#server.waiting.delete(this);
    callback(error);
  }

  /** Updates, for the key of the request, how many bytes of the response wait to be sent. */
  #countUnsent(): void {
    const { admission, waiting } = this.#server;
    const bytes = this.response && !this.destroyed ? this.#socket.writableLength : 0;
    if (bytes === this.#unsent) return;
    this.#unsentSince = performance.now();
    if (bytes > 0) waiting.add(this);
    else waiting.delete(this);
    admission?.countUnsent(this.#unsentBy, -this.#unsent);
    this.#unsentBy = this.keyId;
    this.#unsent = bytes;
    admission?.countUnsent(this.#unsentBy, bytes);
  }

  #receive(chunk: Buffer): void {
    if (this.isParsing) {
      this.#input = this.#input.length === 0 ? chunk : Buffer.concat([this.#input, chunk]);
      const { scheduler } = this.#server;
      // A client may have reset the connection before it was accepted. Its reset is read a turn after its request.
      if (this.#requests === 0) setImmediate(() => scheduler.defer(this));
      else if (scheduler.hasRoom()) this.start();
      else scheduler.defer(this);
      // Buffers up to 16 KiB, so that a FIN is noticed while a request is in progress.
      if (this.#input.length > MOST_WAITING) this.#socket.pause();
    } else {
      this.#discarded += chunk.length;
      if (this.#discarded > this.#server.limits.lingerBytes) this.#socket.pause();
    }
  }

  /** Parses the input. */
  start(): true {
    for (let pieces = 0, length = 0; (length = this.#pieceLength()) > 0; pieces += 1) {
      if (pieces === PIECES_PER_TURN) {
        this.#server.scheduler.defer(this);
        break;
      }
      if (this.#isIdle) {
        this.#isIdle = false;
        this.#since = performance.now();
      }
      const input = this.#input;
      const isAll = length === input.length;
      this.#input = isAll ? NOTHING : input.subarray(length);
      if (this.#bodyLeft > 0) this.#bodyLeft -= length;
      this.emit('data', isAll ? input : input.subarray(0, length));
    }
    if (this.isParsing && this.#input.length <= MOST_WAITING && this.#socket.isPaused())
      this.#socket.resume();
    return true;
  }

  /** The length of the input that may be parsed now: at most to the end of the current request. */
  #pieceLength(): number {
    const input = this.#input;
    if (input.length === 0 || this.isPaused() || this.response?.req.complete) return 0;
    if (this.#bodyLeft > 0) return Math.min(this.#bodyLeft, input.length);
    const end = input.indexOf(EMPTY_LINE);
    if (end >= 0) return end + EMPTY_LINE.length;
    // The beginning of an empty line waits for its end, which may come in the next chunk.
    const begun = [3, 2, 1].find((count) => input.subarray(-count).equals(EMPTY_LINE.subarray(0, count)));
    return input.length - (begun ?? 0);
  }

  readonly #finish = (): void => {
    this.response = undefined;
    this.#countUnsent();
    if (this.destroyed) return; // it would stay in the set forever
    this.#server.waiting.add(this);
    this.#isIdle = true;
    this.#since = performance.now();
    if (this.#isLast) this.end();
    else if (this.#input.length > 0) this.#server.scheduler.defer(this);
  };
}

/** `node:http` takes streams for connections, and types them as sockets. */
export const connectionOf = ({ socket }: ServerRequest): Connection => socket as unknown as Connection;
