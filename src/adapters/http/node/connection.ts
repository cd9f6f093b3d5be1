import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { turns } from './fair-scheduler.js';
import type { ServerLimits } from './server-limits.js';

/** How much input is parsed before other connections have their turn, in bytes. */
const PIECE = 1024;
/**
 * The first input of connections waits in so many queues, chosen by port. In one queue by address, a client would wait
 * for thousands of others behind the same proxy.
 */
const NEWCOMERS = 24;

/**
 * The connection of a client as `node:http` sees it: the socket, with its input in small pieces, and with times for
 * what the client has to send and to read. It does not read HTTP.
 */
export class Connection extends Duplex {
  readonly remoteAddress: string | undefined;
  /** The responses in progress, in order: several, if the client pipelines. */
  readonly responses = new Set<ServerResponse>();
  readonly #socket: Socket;
  readonly #headersTimeout: number;
  readonly #onLate: () => void;
  /** Whether its first input has waited for its turn. */
  #isKnown = false;
  #isInputOver = false;
  /** Whether a request has begun to arrive. */
  #isReceiving = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param onLate called when the client has not sent the rest of a request in time */
  constructor(socket: Socket, limits: ServerLimits, onLate: () => void) {
    super({
      decodeStrings: false,
      readableHighWaterMark: PIECE,
      read: () => this.#isInputOver || socket.resume(),
      write: (chunk, encoding, done) => {
        let late: NodeJS.Timeout | undefined;
        socket.write(chunk, encoding, () => {
          clearTimeout(late);
          done();
        });
        if (socket.writableLength > 0)
          late = this.#after(limits.writeTimeout, () => this.destroy());
      },
      final: (done) => {
        socket.resume();
        socket.end(() => {
          done();
          // Until then the client may read, and close.
          if (!this.destroyed) this.#startTimer(limits.lingerTime, () => this.destroy());
        });
      },
      destroy: (_error, done) => {
        clearTimeout(this.#timer);
        // Reset, not closed: the operating system would go on sending, for minutes to a client that does not read.
        if (this.writableLength > 0) socket.resetAndDestroy();
        else socket.destroy();
        done(null);
      },
    });
    this.remoteAddress = socket.remoteAddress;
    this.#socket = socket;
    this.#headersTimeout = limits.headersTimeout;
    this.#onLate = onLate;
    // Without a response: the client would take it for the one to its first request.
    this.#startTimer(limits.headersTimeout, () => this.end());
    socket.on('data', (input: Buffer) => this.#receive(input));
    socket.on('end', () => this.#isInputOver || this.push(null));
    socket.on('timeout', () => this.emit('timeout'));
    socket.on('error', () => {}); // `close` follows
    socket.on('close', () => this.#inTurn(() => this.destroy()));
  }

  /**
   * Whether it waits for its client, to send a request or to read a response. A client that pipelines must expect a
   * close at any time (RFC 9112, 9.3.2).
   */
  get isWaiting(): boolean {
    return this.responses.size !== 1 || this.writableLength > 0;
  }

  /** Gives the client so many milliseconds for the rest of a request whose headers have come. Default: no limit. */
  limitRequest(milliseconds?: number): void {
    if (!this.writable) return;
    this.#isReceiving = false;
    this.#startTimer(milliseconds, this.#onLate);
  }

  /** Passes no further input, nor its end. It waits in the network until the connection ends, and is then discarded. */
  endInput(): void {
    this.#isInputOver = true;
    this.#socket.pause();
  }

  /** Emits `timeout` after so many milliseconds without input or output: `node:http` sets it while it is idle. */
  setTimeout(milliseconds: number): this {
    this.#socket.setTimeout(milliseconds);
    return this;
  }

  /** Replaces the timer, or only stops it. */
  #startTimer(milliseconds: number | undefined, onEnd: () => void): void {
    clearTimeout(this.#timer);
    const end = (): unknown => timer === this.#timer && onEnd();
    const timer = milliseconds === undefined ? undefined : this.#after(milliseconds, end);
    this.#timer = timer;
  }

  #after(milliseconds: number, work: () => unknown): NodeJS.Timeout {
    return setTimeout(() => this.#inTurn(work), milliseconds);
  }

  /** Thousands of connections may end at once, and each end costs as much as a request. */
  #inTurn(work: () => unknown): void {
    void turns.takeTurn(this.remoteAddress).then(work);
  }

  #receive(input: Buffer): void {
    const socket = this.#socket;
    // Discarded, not left: closing would reset a connection with unread input.
    if (!this.writable || this.#isInputOver) return;
    if (this.#isKnown && input.length <= PIECE) return this.#pass(input);
    this.#isKnown = true;
    socket.pause();
    socket.unshift(input);
    const newcomer = `new ${(socket.remotePort ?? 0) % NEWCOMERS}`;
    const caller = input.length > PIECE ? this.remoteAddress : newcomer;
    const size = Math.min(PIECE, input.length);
    void turns.takeTurn(caller).then(() => socket.read(size)); // emits `data`
  }

  #pass(piece: Buffer): void {
    const hasRoom = this.push(piece);
    if (!hasRoom) this.#socket.pause();
    const isFirst = this.responses.size === 0 && !this.#isReceiving;
    if (!isFirst || isBlank(piece)) return;
    this.#isReceiving = true;
    this.#startTimer(this.#headersTimeout, this.#onLate);
  }
}

/** Whether there are only empty lines, which a client may send before and after a request (RFC 9112, 2.2). */
const isBlank = (piece: Buffer): boolean => piece.every((byte) => byte === 0x0d || byte === 0x0a);
