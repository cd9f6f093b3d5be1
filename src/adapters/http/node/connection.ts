import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { scheduler } from './fair-scheduler.js';
import type { ServerLimits } from './server-limits.js';

/** How much input is parsed before other connections have their turn, in bytes. */
const PIECE = 1024;
/**
 * A small first input waits in one of this many queues, chosen by the client's port. By address, all clients behind one
 * proxy would share a queue; with a queue for each connection, new ones would crowd out other callers.
 */
const NEWCOMER_QUEUES = 24;

/**
 * The connection of a client as `node:http` sees it: the socket, with its input in small pieces, and with timeouts
 * for sending and for reading. It does not read HTTP.
 */
export class Connection extends Duplex {
  readonly remoteAddress: string | undefined;
  /** The responses in progress, in order: several, if the client pipelines. */
  readonly responses = new Set<ServerResponse>();
  readonly #socket: Socket;
  readonly #limits: ServerLimits;
  readonly #onLate: () => void;
  #hasReceived = false;
  /** Whether input waits for its turn. */
  #isQueued = false;
  #ignoresInput = false;
  /** Whether a request has begun to arrive. */
  #isReceiving = false;
  #cancelTimer: (() => void) | undefined;

  /** @param onLate called when the client has not sent the rest of a request in time */
  constructor(socket: Socket, limits: ServerLimits, onLate: () => void) {
    super({ decodeStrings: false, readableHighWaterMark: PIECE });
    this.remoteAddress = socket.remoteAddress;
    this.#socket = socket;
    this.#limits = limits;
    this.#onLate = onLate;
    // Without a response: the client would take it for the one to its first request.
    this.#startTimer(limits.headersTimeout, () => this.end());
    socket.on('data', (input: Buffer) => this.#receive(input));
    socket.on('end', () => {
      if (!this.#ignoresInput) this.push(null);
    });
    socket.on('timeout', () => this.emit('timeout'));
    socket.on('error', () => {}); // `close` follows
    socket.on('close', () => this.#inTurn(() => this.destroy()));
  }

  /** Whether the server waits for a request of its client. */
  get isIdle(): boolean {
    return this.responses.size === 0 && !this.#isQueued;
  }

  /**
   * Whether it may give way to a new connection: it waits for a request or for its turn, its client has output to read,
   * or its client pipelines, and must expect a close at any time (RFC 9112, 9.3.2).
   */
  get isEvictable(): boolean {
    return this.responses.size !== 1 || this.writableLength > 0;
  }

  /**
   * The headers have come, or the response is complete: stops their timer, and starts that of the body, if there is one.
   * The next request starts the first again. Leaves the timer of `lingerTime` alone.
   */
  endHeaders(bodyTimeout?: number): void {
    if (!this.writable) return;
    this.#isReceiving = false;
    this.#startTimer(bodyTimeout, this.#onLate);
  }

  /** Passes no further input, nor its end. The rest stays in the socket, and is discarded once the connection ends. */
  ignoreInput(): void {
    this.#ignoresInput = true;
    this.#socket.pause();
  }

  /**
   * Emits `timeout` after so many milliseconds without input or output: `node:http` sets it while the connection is
   * idle.
   */
  setTimeout(milliseconds: number): this {
    this.#socket.setTimeout(milliseconds);
    return this;
  }

  override _read(): void {
    if (!this.#ignoresInput) this.#socket.resume();
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: () => void): void {
    let stopWaiting: (() => void) | undefined;
    this.#socket.write(chunk, encoding, () => {
      stopWaiting?.();
      done();
    });
    if (this.#socket.writableLength > 0)
      stopWaiting = this.#after(this.#limits.writeTimeout, () => this.destroy());
  }

  override _final(done: () => void): void {
    this.#socket.resume();
    this.#socket.end(() => {
      done();
      // The client has this long to close.
      if (!this.destroyed) this.#startTimer(this.#limits.lingerTime, () => this.destroy());
    });
  }

  override _destroy(_error: Error | null, done: () => void): void {
    this.#cancelTimer?.();
    // Reset, not closed: the operating system would go on sending, for minutes to a client that does not read.
    if (this.writableLength > 0) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
    done();
  }

  /** Replaces the timer, or only stops it. */
  #startTimer(milliseconds: number | undefined, onEnd: () => void): void {
    this.#cancelTimer?.();
    this.#cancelTimer = milliseconds === undefined ? undefined : this.#after(milliseconds, onEnd);
  }

  /** Runs `work` in a turn after so many milliseconds. The result cancels it, even while it waits for its turn. */
  #after(milliseconds: number, work: () => unknown): () => void {
    let isCancelled = false;
    const timer = setTimeout(() => this.#inTurn(() => isCancelled || work()), milliseconds);
    return () => {
      isCancelled = true;
      clearTimeout(timer);
    };
  }

  /** Runs `work` in a turn of the client's address: thousands may close at once, each at the cost of a request. */
  #inTurn(work: () => unknown): void {
    void scheduler.takeTurn(this.remoteAddress).then(work);
  }

  /** Passes small input at once. The first input, and input larger than a piece, waits for a turn. */
  #receive(input: Buffer): void {
    // Discarded, not left unread: closing would then reset the connection.
    if (!this.writable || this.#ignoresInput) return;
    const isFirst = !this.#hasReceived;
    this.#hasReceived = true; // it comes here again after its turn
    if (input.length > PIECE) void this.#requeue(input, this.remoteAddress);
    else if (isFirst) void this.#requeue(input, this.#newcomerQueue());
    else this.#pass(input);
  }

  #newcomerQueue(): string {
    return `new ${(this.#socket.remotePort ?? 0) % NEWCOMER_QUEUES}`;
  }

  /**
   * Puts input back into the socket. In a turn of `queue`, `read` emits its first piece as `data`, to `#receive`. Once
   * that is parsed, `_read` resumes the socket, and the rest comes to `#receive` as well.
   */
  async #requeue(input: Buffer, queue: string | undefined): Promise<void> {
    const socket = this.#socket;
    socket.pause();
    socket.unshift(input);
    this.#isQueued = true;
    await scheduler.takeTurn(queue);
    this.#isQueued = false;
    socket.read(Math.min(PIECE, input.length));
  }

  #pass(piece: Buffer): void {
    const hasRoom = this.push(piece);
    if (!hasRoom) this.#socket.pause();
    if (this.#isReceiving || this.responses.size > 0 || isBlank(piece)) return;
    this.#isReceiving = true;
    this.#startTimer(this.#limits.headersTimeout, this.#onLate);
  }
}

/** Whether there are only empty lines, which a client may send before and after a request (RFC 9112, 2.2). */
const isBlank = (piece: Buffer): boolean => piece.every((byte) => byte === 0x0d || byte === 0x0a);
