import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { AdmissionControl } from './admission-control.js';
import type { ServerLimits } from './server-limits.js';
import type { ServerResponse } from './server-messages.js';
import type { FairScheduler, Task } from './fair-scheduler.js';

const NOTHING = Buffer.alloc(0);
/** Ends the headers of a request, and a body in chunks. */
const EMPTY_LINE = Buffer.from('\r\n\r\n');
/** How much input may wait for a response before the socket is paused, in bytes. */
const MOST_WAITING = 16 * 1024;
/** How many pieces of a body are parsed before other connections get their turn. */
const PIECES_PER_TURN = 16;
/** How much input is discarded after the last response, in bytes. The rest stays in the network. */
const MOST_DISCARDED = 64 * 1024;

export interface ServerState {
  readonly limits: ServerLimits;
  readonly connections: Set<Connection>;
  /** The connections that wait for their clients, for a request or for reading. The first has waited longest. */
  readonly waiting: Set<Connection>;
  readonly scheduler: FairScheduler;
  readonly admission?: AdmissionControl | undefined;
  /** Whether every response closes its connection. */
  isDraining?: boolean;
  /** When the server began to stop: since then idle connections end soon. */
  stoppedAt?: number;
}

const connections = new WeakMap<object, Connection>();

/** The connection of a socket, if it is one of a `NodeServer`. */
export const connectionOf = (socket: unknown): Connection | undefined =>
  connections.get(socket as object);

/**
 * A client's connection. `node:http` owns the socket, but for its input, which it gets in pieces: after each request none
 * until the response has been sent. So `node:http` never sees two requests at once: a client that pipelines many and
 * reads nothing costs one response and one chunk of input.
 */
export class Connection implements Task {
  readonly socket: Socket;
  /** The response to the request in progress, whose headers were parsed. */
  response: ServerResponse | undefined;
  /** The id of the API key of that request; empty while it is unknown. */
  keyId = '';
  isParsing = true;
  /** The API key is unknown before parsing. So new connections alternate with those that have sent a request. */
  caller: 'new' | 'known' = 'new';
  deferredAt: number | undefined;
  readonly #server: ServerState;
  /** What `node:http` does with input, and at its end. */
  readonly #parse: (chunk: Buffer) => void;
  readonly #endOfInput: () => void;
  #input: Buffer = NOTHING;
  #bodyLeft = 0;
  #isLast = false;
  /** Whether no byte of a request has come yet. */
  #isIdle = true;
  #hasResponded = false;
  #since = performance.now();
  #discarded = 0;
  #unsent = 0;
  #unsentSince = 0;
  #linger: NodeJS.Timeout | undefined;

  /** @param http a server of `node:http` that does not listen, and gets the socket as its connection */
  constructor(socket: Socket, server: ServerState, http: EventEmitter) {
    this.socket = socket;
    this.#server = server;
    connections.set(socket, this);
    server.connections.add(this);
    server.waiting.add(this);
    void socket.remoteAddress; // Node.js keeps it, so that it is known after the end, too
    http.emit('connection', socket);
    this.#parse = takeListener(socket, 'data');
    this.#endOfInput = takeListener(socket, 'end');
    // `node:http` calls both: after the last response, and for requests, whose limits the server keeps.
    socket.destroySoon = () => this.end();
    socket.setTimeout = () => socket;
    // It calls this one after each request, and when a listener reads a body: what is full stays paused.
    const resume = socket.resume.bind(socket);
    socket.resume = () => (this.#input.length > MOST_WAITING ? socket : resume());
    socket.on('error', () => {}); // it closes after it
    socket.on('close', () => this.#close());
    socket.on('finish', () => this.end()); // a listener, too, can end it
    socket.on('drain', () => {
      this.#countUnsent();
      this.#goOn();
    });
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    // The first request is parsed two turns after it came: the end must not overtake it.
    socket.on('end', () =>
      this.caller === 'new' ? setImmediate(setImmediate, this.#endInput) : this.#endInput(),
    );
  }

  readonly #endInput = (): void => {
    if (!this.isParsing) return; // a malformed body may still be answered
    this.#input = NOTHING; // as in Node.js, a client that ends its side waits for no further response
    if (this.response) this.#endOfInput();
    // Not while a body that is too short is answered, nor before a written response was sent.
    if (this.isParsing && this.response?.writableEnded !== true) this.end();
  };

  /** Whether a further request has come before the response. */
  get pipelines(): boolean {
    return this.#input.length > this.#bodyLeft;
  }

  /** Called when the headers of a request were parsed. */
  begin(response: ServerResponse): void {
    this.response = response;
    this.keyId = '';
    this.#server.waiting.delete(this);
    response.decideLast = () => this.#decideLast(response);
    response.onEnd = this.#countUnsent;
    response.req.onRead = () => {
      response.writeContinue();
      this.#goOn();
    };
    this.caller = 'known';
    this.#bodyLeft = Number(response.req.headers['content-length'] ?? 0);
    response.once('close', this.#finish);
  }

  /** Whether the response is the connection's last. A response that does not wait for the body is. */
  #decideLast(response: ServerResponse): boolean {
    const { complete, headers } = response.req;
    const isHere =
      complete ||
      (headers['transfer-encoding'] === undefined && this.#input.length >= this.#bodyLeft);
    // Without it `node:http` closes the connection of a client that sent its body without waiting for 100.
    if (isHere) response.writeContinue();
    this.#isLast = !isHere || this.#server.isDraining === true;
    return this.#isLast;
  }

  /** Stops parsing, and discards further input: unread input would reset the connection. */
  stopParsing(): void {
    this.isParsing = false;
    this.#input = NOTHING;
    this.socket.resume();
  }

  /** Ends the server's side after `last`, then gives the client a moment to read and to close. */
  end(last = ''): void {
    this.stopParsing();
    if (this.socket.writable) this.socket.end(last);
    this.#linger ??= setTimeout(() => this.destroy(), this.#server.limits.lingerTime).unref();
  }

  destroy(): void {
    // Reset, not closed: after a close the operating system goes on sending, for minutes to a client that does not read.
    if (this.#unsent > 0) this.socket.resetAndDestroy();
    else this.socket.destroy();
  }

  #close(): void {
    this.stopParsing();
    clearTimeout(this.#linger);
    this.#server.connections.delete(this);
    this.#server.waiting.delete(this);
  }

  /** Called regularly. Ends a connection that was idle or unread for too long; returns whether its request is late. */
  check(now: number): boolean {
    const { limits, stoppedAt = Infinity } = this.#server;
    const { keepAliveTimeout, stopGrace, requestTimeout, headersTimeout, writeTimeout } = limits;
    this.#countUnsent(); // of a response that is written in parts
    if (this.#unsent > 0 && now - this.#unsentSince > writeTimeout) this.destroy();
    const waited = now - this.#since;
    // Nobody waits for the rest of a body whose response was ended.
    if (this.response)
      return !this.response.req.complete && !this.response.writableEnded && waited > requestTimeout;
    // Without a response: one that nobody asked for could be taken for that of the next request.
    const idleTimeout = this.#hasResponded ? keepAliveTimeout : headersTimeout;
    if (this.#isIdle && waited > idleTimeout) this.end();
    if (waited > keepAliveTimeout || Math.min(waited, now - stoppedAt) > stopGrace) this.end();
    return !this.#isIdle && waited > headersTimeout;
  }

  /** Parses more in a later turn, if more has arrived. */
  readonly #goOn = (): void => {
    if (this.#input.length > 0) this.#server.scheduler.defer(this);
  };

  /** Updates, for the key of the request, how many bytes of the response wait to be sent. */
  readonly #countUnsent = (): void => {
    const { admission, waiting } = this.#server;
    const bytes = this.response && !this.socket.destroyed ? this.socket.writableLength : 0;
    if (bytes === this.#unsent) return;
    this.#unsentSince = performance.now();
    if (bytes > 0) waiting.add(this);
    else waiting.delete(this);
    admission?.countUnsent(this.keyId, bytes - this.#unsent);
    this.#unsent = bytes;
  };

  #receive(chunk: Buffer): void {
    if (!this.isParsing) {
      this.#discarded += chunk.length;
      if (this.#discarded > MOST_DISCARDED) this.socket.pause();
      return;
    }
    this.#input = this.#input.length === 0 ? chunk : Buffer.concat([this.#input, chunk]);
    const { scheduler } = this.#server;
    // A client may have reset the connection before it was accepted. Its reset is read a turn after its request.
    if (this.caller === 'new') setImmediate(() => scheduler.defer(this));
    else if (scheduler.hasRoom()) this.start();
    else scheduler.defer(this);
    // Buffers up to 16 KiB, so that a FIN is noticed while a request is in progress.
    if (this.#input.length > MOST_WAITING) this.socket.pause();
  }

  start(): void {
    for (let pieces = 0, length = 0; (length = this.#pieceLength()) > 0; pieces += 1) {
      if (pieces === PIECES_PER_TURN) {
        this.#server.scheduler.defer(this);
        break;
      }
      const input = this.#input;
      // Neither the rest of a body that nobody has read nor an empty line begins a request.
      if (this.#isIdle && this.#bodyLeft === 0 && !isBlank(input.subarray(0, length))) {
        this.#isIdle = false;
        this.#since = performance.now();
      }
      const isAll = length === input.length;
      this.#input = isAll ? NOTHING : input.subarray(length);
      if (this.#bodyLeft > 0) this.#bodyLeft -= length;
      this.#parse(isAll ? input : input.subarray(0, length));
    }
    if (this.isParsing && this.socket.isPaused()) this.socket.resume();
  }

  /**
   * The length of the input that may be parsed now: at most to the end of the current request, nothing of the next one
   * before the response was sent, and no more of a body than its listener buffers.
   */
  #pieceLength(): number {
    const input = this.#input;
    if (input.length === 0 || this.socket.destroyed || this.socket.writableNeedDrain) return 0;
    const request = this.response?.req;
    if (request && (request.complete || request.readableLength >= request.readableHighWaterMark))
      return 0;
    if (this.#bodyLeft > 0) return Math.min(this.#bodyLeft, input.length);
    const end = input.indexOf(EMPTY_LINE);
    if (end >= 0) return end + EMPTY_LINE.length;
    // The beginning of an empty line waits for its end, which may come in the next chunk.
    const begun = [3, 2, 1].find((count) =>
      input.subarray(-count).equals(EMPTY_LINE.subarray(0, count)),
    );
    return input.length - (begun ?? 0);
  }

  readonly #finish = (): void => {
    this.response = undefined;
    this.#countUnsent();
    if (this.socket.destroyed) return; // it would stay in the set forever
    this.#server.waiting.add(this);
    this.#isIdle = true;
    this.#hasResponded = true;
    this.#since = performance.now();
    if (this.#isLast) this.end();
    else this.#goOn();
  };
}

const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => byte === 13 || byte === 10);

/** Takes the listener away that `node:http` has added last. */
function takeListener(socket: Socket, event: 'data' | 'end'): (chunk?: Buffer) => void {
  const listener = socket.listeners(event).at(-1) as () => void;
  socket.removeListener(event, listener);
  return listener;
}
