import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HttpError } from '../error-responses.js';
import type { AdmissionControl } from './admission-control.js';
import type { FairScheduler } from './fair-scheduler.js';
import { expectations, lateRequest, malformed } from './refusals.js';
import type { ServerLimits } from './server-limits.js';

const NOTHING = Buffer.alloc(0);
/** Ends the headers of a request, and a body in chunks. */
const EMPTY_LINE = '\r\n\r\n';
const CR = 13;
/** How much input may wait for a response before the socket is paused, in bytes. */
const MOST_WAITING = 16 * 1024;
/** How many pieces of a body are parsed before other connections get their turn. */
const PIECES_PER_TURN = 16;
/** How much input is discarded after the last response, in bytes. The rest stays in the network. */
const MOST_DISCARDED = 64 * 1024;
/** The Connection header of a gate: a list of its own, so that `===` tells it from a `close` of the listener. */
const OWN_CLOSE = ['close'];

/** What the gates of a server share. */
export interface Gates {
  readonly limits: ServerLimits;
  readonly open: Set<Gate>;
  /** The gates that wait for their clients, for a request or for reading. The first has waited longest. */
  readonly waiting: Set<Gate>;
  readonly admission: AdmissionControl | undefined;
  /** In which the first requests and the ends of connections take turns, by the addresses of their clients. */
  readonly turns: FairScheduler;
  /** Responds in place of a listener, and closes the connection. `bytes`: where `node:http` found a fault. */
  readonly refuse: (gate: Gate, error: HttpError, bytes?: Buffer) => void;
  /** While it is true, no input is parsed. */
  isHeld: boolean;
  /** Whether every response closes its connection. */
  isDraining: boolean;
  /** When the server began to stop, by `performance.now()`: since then idle connections end soon. */
  stoppedAt: number;
}

/**
 * | state       | begins with                                        | `#exchange`               | `#since`                |
 * | ----------- | -------------------------------------------------- | ------------------------- | ----------------------- |
 * | `new`       | the connection                                     | none                      | this state began        |
 * | `reading`   | the first byte of a request's headers              | none                      | this state began        |
 * | `answering` | the end of the headers: the listener is called     | one                       | `reading` began         |
 * | `idle`      | the close of a response                            | none                      | this state began        |
 * | `closing`   | the last response, a fault, or the client's end    | until its response closes | the gate ended its side |
 *
 * A connection goes from `new` to `reading` to `answering` to `idle`, and on to `reading`. From every state it can go to
 * `closing`, for good: no more input is parsed.
 */
type State = 'new' | 'idle' | 'reading' | 'answering' | 'closing';

/** A request whose headers were parsed, until its response closes. */
interface Exchange {
  readonly response: ServerResponse;
  /** Whether the listener has begun to read the body. */
  isBodyRead: boolean;
  /** Whether the client still waits for a 100 before it sends the body. */
  expectsContinue: boolean;
  /** What is wrong with the body, until the listener or the server is told. */
  fault: HttpError | undefined;
  /** Whether the response closes the connection. */
  isLast: boolean;
}

/**
 * The connection of a client, as `node:http` sees it: a stream over the socket that lets one request through at a time.
 * `node:http` gets nothing of the next one before the response has been sent, so a client that pipelines many requests
 * and reads nothing costs one response and one chunk of input.
 */
export class Gate extends Duplex {
  readonly remoteAddress: string | undefined;
  /** The id of the API key of the current or latest request; empty while it is unknown. */
  keyId = '';
  readonly #socket: Socket;
  readonly #gates: Gates;
  #state: State = 'new';
  #since = performance.now();
  #exchange: Exchange | undefined;
  /** What has come and was not parsed yet: first the rest of a body, then further requests. */
  #input: Buffer = NOTHING;
  /** How much of a body of known length was not parsed yet, in bytes. It can outlive its exchange. */
  #bodyLeft = 0;
  /** Whether `feed` runs: each piece that it pushes calls it again. */
  #isFeeding = false;
  /** The bytes that came in `closing`. */
  #discarded = 0;
  /** The bytes of the response that wait to be sent, and when their number last changed. */
  #unsent = 0;
  #unsentSince = 0;

  /** @param http a server of `node:http` that does not listen, and gets the gate as its connection */
  constructor(socket: Socket, gates: Gates, http: EventEmitter) {
    super({ decodeStrings: false, read() {} }); // input is pushed as it comes
    this.#socket = socket;
    this.#gates = gates;
    this.remoteAddress = socket.remoteAddress;
    gates.open.add(this);
    gates.waiting.add(this);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('end', () => void this.#inTurn(this.#endInput)); // must not overtake the first request
    socket.on('error', () => {}); // it closes after it
    socket.on('close', () => this.destroy());
    this.on('error', () => {});
    this.on('drain', this.feed);
    http.emit('connection', this);
    this.on('data', this.feed); // behind the listener of `node:http`, which has then parsed the piece before
  }

  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  /** The response to the request in progress. */
  get response(): ServerResponse | undefined {
    return this.#exchange?.response;
  }

  /** Whether a further request has come before the response. */
  get pipelines(): boolean {
    return this.#input.length > this.#bodyLeft;
  }

  /** Has no effect: the server keeps the limits. */
  setTimeout(): this {
    return this;
  }

  /** Begins the exchange of a request whose headers were parsed. Call the listener after it. */
  begin(response: ServerResponse): void {
    const { req: request } = response;
    const exchange: Exchange = {
      response,
      isBodyRead: false,
      expectsContinue: expectations(request).length > 0,
      fault: undefined,
      isLast: false,
    };
    this.#exchange = exchange;
    this.keyId = '';
    this.#state = 'answering';
    this.#gates.waiting.delete(this);
    this.#bodyLeft = Number(request.headers['content-length'] ?? 0);
    response.once('close', () => this.#finish(exchange));
    const isReceived = this.#hasReceived(request);
    if (isReceived) sendContinue(exchange);
    else this.#onceRead(exchange);
    if (this.#gates.isDraining || !isReceived) this.closeAfterResponse();
  }

  /** Lets the response in progress close the connection, unless its headers were sent. */
  closeAfterResponse(): void {
    const exchange = this.#exchange;
    if (exchange === undefined || exchange.response.headersSent) return;
    exchange.isLast = true;
    exchange.response.setHeader('Connection', OWN_CLOSE);
  }

  /** Passes to the parser what has come and may be parsed. */
  readonly feed = (): void => {
    if (this.#isFeeding || this.#gates.isHeld) return;
    this.#isFeeding = true;
    this.#countUnsent();
    let pieces = 0;
    while (pieces < PIECES_PER_TURN && this.#feedPiece()) pieces += 1;
    this.#isFeeding = false;
    if (pieces === PIECES_PER_TURN) setImmediate(this.feed);
    this.#keepOpenIfReceived();
    if (this.#socket.isPaused() && this.#input.length <= MOST_WAITING) this.#socket.resume();
  };

  /** Deals with late or malformed input. A listener that reads the body and listens for errors responds itself. */
  fail(fault: HttpError, bytes?: Buffer): void {
    if (this.#state === 'closing') return;
    this.#stopParsing();
    const exchange = this.#exchange;
    if (exchange === undefined) {
      this.#gates.refuse(this, fault, bytes);
      return;
    }
    exchange.fault = fault;
    // A listener that does not read the body yet may have begun what needs none: it hears of the fault if it reads.
    const isToldNow = exchange.isBodyRead || fault.code === 'request_timeout';
    // In the next tick: the parser that reports the fault has then returned.
    if (isToldNow) process.nextTick(() => this.#deliverFault(exchange));
  }

  /**
   * Parses no more, sends `last` and ends the server's side. The client then has `lingerTime` to read and to close
   * (`_final` begins it, `check` ends it).
   */
  close(last = ''): void {
    this.#stopParsing();
    if (!this.writableEnded) this.end(last);
  }

  /** Ends what was idle, unread or unfinished for too long. Called regularly. */
  check(now: number): void {
    const { limits, stoppedAt } = this.#gates;
    this.#countUnsent(); // of a response that is written in parts
    if (this.#unsent > 0 && now - this.#unsentSince > limits.writeTimeout) {
      this.destroy();
      return;
    }
    const waited = now - this.#since;
    const awaitsRequest = this.#exchange === undefined && this.#state !== 'closing';
    if (awaitsRequest && Math.min(waited, now - stoppedAt) > limits.stopGrace) this.close();
    else if (waited > this.#timeLimit()) this.#expire();
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: () => void): void {
    this.#socket.write(chunk, encoding, done);
    this.#countUnsent();
  }

  /** `node:http`, too, ends the stream after the last response, and a listener can. */
  override _final(done: () => void): void {
    this.#stopParsing();
    this.#since = performance.now();
    this.#socket.end();
    done();
  }

  override _destroy(_error: unknown, done: () => void): void {
    // Reset, not closed: after a close the operating system goes on sending, for minutes to a client that does not read.
    if (this.#unsent > 0) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
    this.#stopParsing();
    this.#countUnsent();
    this.#gates.open.delete(this);
    this.#gates.waiting.delete(this);
    done();
  }

  #receive(chunk: Buffer): void {
    if (this.#state === 'closing') {
      this.#discarded += chunk.length;
      if (this.#discarded > MOST_DISCARDED) this.#socket.pause();
      return;
    }
    this.#input = this.#input.length === 0 ? chunk : Buffer.concat([this.#input, chunk]);
    // Buffers up to 16 KiB, so that a FIN is noticed while a request is in progress.
    if (this.#input.length > MOST_WAITING) this.#socket.pause();
    if (this.#state === 'new') void this.#inTurn(this.feed);
    else this.feed();
  }

  /**
   * Runs a task after the next turn, since the reset of a connection is read after its request. The first requests and
   * the ends of connections take turns: thousands at once would stall the event loop ("2,500 idle connections after GET
   * /livez").
   */
  async #inTurn(task: () => void): Promise<void> {
    await nextTurn();
    await this.#gates.turns.takeTurn(this.remoteAddress ?? '');
    task();
  }

  readonly #endInput = (): void => {
    if (this.#state === 'closing') return; // a malformed body may still be answered
    const { response } = this;
    if (response === undefined) this.close();
    else if (!this.#hasReceived(response.req)) this.fail(malformed());
    // As in Node.js, a client that ends its side waits for no further response.
    else if (response.writableEnded) this.#stopParsing();
    else this.destroy();
  };

  /** How long the state may go on, in milliseconds. */
  #timeLimit(): number {
    const { response } = this;
    const { limits } = this.#gates;
    switch (this.#state) {
      case 'new':
      case 'reading':
        return limits.headersTimeout;
      case 'idle':
        return limits.keepAliveTimeout;
      case 'answering': {
        // Nobody waits for the rest of a body whose response was ended.
        const awaitsBody = !response?.req.complete && !response?.writableEnded;
        return awaitsBody ? limits.requestTimeout : Infinity;
      }
      case 'closing':
        return response && !this.writableFinished ? Infinity : limits.lingerTime;
    }
  }

  #expire(): void {
    switch (this.#state) {
      case 'new':
      case 'idle':
        // Without a response: one that nobody asked for could be taken for that of the next request.
        return this.close();
      case 'reading':
      case 'answering':
        return this.fail(lateRequest());
      case 'closing':
        this.destroy();
    }
  }

  /** Passes the next piece of the input to the parser. Returns whether there was one that may be parsed. */
  #feedPiece(): boolean {
    const input = this.#input;
    const isBlocked = this.readableLength > 0 || this.writableNeedDrain || this.#socket.destroyed;
    if (isBlocked || input.length === 0) return false;
    this.#noticeRequest();
    const length = this.#parsableLength();
    if (length === 0) return false;
    this.#input = length === input.length ? NOTHING : input.subarray(length);
    this.#bodyLeft -= Math.min(this.#bodyLeft, length);
    this.push(input.subarray(0, length));
    return true;
  }

  /** Begins to read a request if its first byte has come. */
  #noticeRequest(): void {
    const awaitsRequest = this.#state === 'new' || this.#state === 'idle';
    if (!awaitsRequest || this.#bodyLeft > 0) return;
    // An empty line begins no request (RFC 9112, 2.2).
    if (!this.#input.some((byte) => byte > CR)) return;
    this.#state = 'reading';
    this.#since = performance.now();
  }

  /** The length of the input that may be parsed now: at most to the end of the current request. */
  #parsableLength(): number {
    if (this.#bodyLeft > 0) return Math.min(this.#input.length, this.#bodyLeft);
    if (this.response?.req.complete) return 0;
    // After the last chunk a body in chunks ends with an empty line, as headers do.
    return lengthToEmptyLine(this.#input);
  }

  /** Whether all of the request has come, parsed or not. The end of a body in chunks only the parser knows. */
  #hasReceived({ complete, headers }: IncomingMessage): boolean {
    if (complete) return true;
    return headers['transfer-encoding'] === undefined && this.#input.length >= this.#bodyLeft;
  }

  /** Withdraws `closeAfterResponse` if the rest of the request has come meanwhile. */
  #keepOpenIfReceived(): void {
    const exchange = this.#exchange;
    if (!exchange?.isLast || this.#gates.isDraining) return;
    const { response } = exchange;
    if (!this.#hasReceived(response.req)) return;
    sendContinue(exchange);
    if (response.headersSent) return;
    exchange.isLast = false;
    if (response.getHeader('Connection') === OWN_CLOSE) response.removeHeader('Connection');
  }

  /** Learns when a listener begins to read the body. */
  #onceRead(exchange: Exchange): void {
    const { req: request } = exchange.response;
    const begin = (): void => {
      if (this.#exchange !== exchange) return;
      exchange.isBodyRead = true;
      sendContinue(exchange);
      this.#deliverFault(exchange);
    };
    // Both are needed: a listener that reads by 'readable' does not resume.
    request.once('resume', begin);
    request.on('newListener', (event) => {
      if (event === 'readable') process.nextTick(begin);
    });
  }

  /** Makes reading the body fail, if it has a fault, or has the server respond for a listener that does not listen. */
  #deliverFault(exchange: Exchange): void {
    const { response, isBodyRead, fault } = exchange;
    const isOver = this.#exchange !== exchange || response.writableEnded;
    if (fault === undefined || isOver) return;
    exchange.fault = undefined;
    if (isBodyRead && response.req.listenerCount('error') > 0) response.req.emit('error', fault);
    else if (response.headersSent) this.destroy();
    else this.#gates.refuse(this, fault);
  }

  #finish({ response, isLast }: Exchange): void {
    const isClosing = isLast || this.#state === 'closing' || !this.#hasReceived(response.req);
    this.#exchange = undefined;
    this.#countUnsent();
    if (isClosing) return this.close();
    this.#state = 'idle';
    this.#since = performance.now();
    this.#gates.waiting.add(this);
    if (this.#input.length > 0) setImmediate(this.feed);
  }

  /** Parses no more, and discards further input: unread input would reset the connection. */
  #stopParsing(): void {
    this.#state = 'closing';
    this.#input = NOTHING;
    this.#socket.resume();
  }

  /** Updates, for the key of the request, how many bytes of the response wait to be sent. */
  #countUnsent(): void {
    const { admission, waiting } = this.#gates;
    const isUnsent = this.#exchange && !this.destroyed && this.#socket.writableLength > 0;
    const bytes = isUnsent ? this.writableLength : 0;
    if (bytes === this.#unsent) return;
    this.#unsentSince = performance.now();
    if (bytes > 0) waiting.add(this);
    else waiting.delete(this);
    admission?.countUnsent(this.keyId, bytes - this.#unsent);
    this.#unsent = bytes;
  }
}

/** Sends 100, once, to a client that expects it. Without it `node:http` would close the connection. */
const sendContinue = (exchange: Exchange): void => {
  const { response, expectsContinue } = exchange;
  exchange.expectsContinue = false;
  if (expectsContinue && !response.headersSent) response.writeContinue();
};

/** The length of the input to the end of an empty line, or of all. The beginning of an empty line waits for its end. */
const lengthToEmptyLine = (input: Buffer): number => {
  const end = input.indexOf(EMPTY_LINE);
  return end < 0 ? Math.max(0, input.length - 3) : end + EMPTY_LINE.length;
};
