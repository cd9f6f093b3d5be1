import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HttpError } from '../error-responses.js';
import type { AdmissionControl } from './admission-control.js';
import type { FairScheduler } from './fair-scheduler.js';
import { Input } from './input.js';
import { malformed } from './refusals.js';
import type { ServerLimits } from './server-limits.js';
import { UnreadOutput } from './unread-output.js';

/** How much input may wait for a response before the socket is paused, in bytes. */
const MOST_WAITING = 16 * 1024;
/** How much input is read after the last response, in bytes. The rest stays in the network. */
const MOST_READ_CLOSING = 64 * 1024;
/** How much of a body in chunks is parsed in a turn, in bytes: it may have hundreds of chunks, never thousands. */
const MOST_CHUNKED = 4096;
/** The Connection header of a gate: a list of its own, so that `===` tells it from a `close` of the listener. */
const OWN_CLOSE = ['close'];

/** What the gates of a server share. */
export interface Gates {
  readonly limits: ServerLimits;
  readonly open: Set<Gate>;
  readonly admission: AdmissionControl | undefined;
  /** In which first requests, waiting input and the ends of connections take turns, by the addresses of their clients. */
  readonly turns: FairScheduler;
  /** Responds in place of a listener, and closes the connection. `bytes`: where `node:http` found a fault. */
  readonly refuse: (gate: Gate, error: HttpError, bytes?: Buffer) => void;
  /** While it is true, no input is parsed. */
  isHeld: boolean;
  /** Whether every response closes its connection. */
  isDraining: boolean;
  /** When the server began to stop, by `performance.now()`; `undefined` before. Idle connections then end soon. */
  stoppedAt: number | undefined;
}

/**
 * | state       | begins with                                     | `#response`     | `#since`                        |
 * | ----------- | ----------------------------------------------- | --------------- | ------------------------------- |
 * | `new`       | the connection                                  | none            | the state began                 |
 * | `reading`   | the first byte of a request's headers           | none            | the connection, or `idle` ended |
 * | `answering` | the end of the headers: the listener is called  | the listener's  | as in `reading`                 |
 * | `idle`      | the close of a response                         | none            | the state began                 |
 * | `closing`   | the last response, a fault, or the client's end | until it closes | the gate ended its side         |
 *
 * A connection goes from `new` to `reading` to `answering` to `idle`, and on to `reading`. From every state it can go to
 * `closing`, for good: no more input is parsed.
 */
type State = 'new' | 'idle' | 'reading' | 'answering' | 'closing';

/**
 * The connection of a client, as `node:http` sees it: a stream over the socket that lets one request through at a time.
 * `node:http` gets a body only when the listener reads it, and the next request only when the response has been sent.
 * So a client that pipelines many requests and reads nothing costs one response and one chunk of input.
 */
export class Gate extends Duplex {
  readonly remoteAddress: string | undefined;
  readonly unread: UnreadOutput;
  readonly #socket: Socket;
  readonly #gates: Gates;
  readonly #input = new Input();
  #state: State = 'new';
  #since = performance.now();
  #response: ServerResponse | undefined;
  /** Whether the listener has begun to read the body of its request. */
  #isBodyWanted = false;
  /** Whether the next turn feeds. */
  #isFeedDue = false;

  /** @param http a server of `node:http` that does not listen, and gets the gate as its connection */
  constructor(socket: Socket, gates: Gates, http: EventEmitter) {
    super({ decodeStrings: false, read() {} }); // input is pushed as it comes
    this.#socket = socket;
    this.#gates = gates;
    this.remoteAddress = socket.remoteAddress;
    this.unread = new UnreadOutput(gates.admission);
    gates.open.add(this);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('end', () => void this.#feedInTurn()); // must not overtake the first request
    socket.on('error', () => {}); // it closes after it
    socket.on('close', () => this.destroy());
    this.on('error', () => {});
    this.on('drain', this.feed);
    http.emit('connection', this);
    this.on('data', () => this.#feedSoon());
  }

  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  /** The response to the request in progress. */
  get response(): ServerResponse | undefined {
    return this.#response;
  }

  /**
   * Since when the gate waits for its client, by `performance.now()`: for a request, or for the client to read or to
   * close. `undefined` while it waits for its listener, except that a client with a further request waiting must expect
   * a close (RFC 9112, 9.3.2): its gate then counts as waiting.
   */
  get waitingSince(): number | undefined {
    const pipelines = this.#isParsed && this.#input.length > 0;
    if (this.#response === undefined || pipelines) return this.#since;
    return this.unread.since;
  }

  /** Whether all of the request in progress was parsed. */
  get #isParsed(): boolean {
    return this.#response?.req.complete === true;
  }

  /** Has no effect: the server keeps the limits. */
  setTimeout(): this {
    return this;
  }

  /**
   * Begins to answer a request whose headers were parsed. Call the listener after it.
   * @param expectsContinue whether the client waits for a 100 before it sends the body
   */
  begin(response: ServerResponse, expectsContinue: boolean): void {
    const { req: request } = response;
    this.#response = response;
    this.#state = 'answering';
    this.#isBodyWanted = false;
    this.unread.keyId = '';
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
    this.#input.expectBody(Number(length));
    response.once('close', () => this.#finish(response));
    const hasBody = encoding !== undefined || length !== '0';
    if (hasBody || expectsContinue)
      onceRead(request, () => this.#readBody(response, expectsContinue));
    const isReceived = this.#hasReceived(request);
    if (!isReceived) request.once('end', () => this.#keepOpen(response));
    if (this.#gates.isDraining || !isReceived) this.closeAfterResponse();
  }

  /** Lets the response in progress close the connection, unless its headers were sent. */
  closeAfterResponse(): void {
    const response = this.#response;
    if (response && !response.headersSent) response.setHeader('Connection', OWN_CLOSE);
  }

  /** Passes the next piece of the input to the parser, if it may be parsed now, or deals with the end of the input. */
  readonly feed = (): void => {
    const { isHeld } = this.#gates;
    const isBlocked = isHeld || this.readableLength > 0 || this.writableNeedDrain;
    if (isBlocked || this.#state === 'closing' || this.#socket.destroyed) return;
    const piece = this.#takePiece();
    if (piece) this.push(piece);
    else if (this.#socket.readableEnded) this.#endInput();
    if (this.#socket.isPaused() && this.#input.length <= MOST_WAITING) this.#socket.resume();
  };

  /** Tells the listener of late or malformed input, if it listens for errors of the request; else the server responds. */
  fail(fault: HttpError, bytes?: Buffer): void {
    const response = this.#response;
    if (this.#state === 'closing' || response?.writableEnded) return;
    this.#beginClosing();
    if (response && response.req.listenerCount('error') > 0) response.req.emit('error', fault);
    else if (response?.headersSent) this.destroy();
    else this.#gates.refuse(this, fault, bytes);
  }

  /**
   * Parses no more, sends `last` and ends the server's side. The client then has `lingerTime` to read and to close
   * (`_final` begins it, `check` ends it).
   */
  close(last = ''): void {
    this.#beginClosing();
    if (!this.writableEnded) this.end(last);
  }

  /** Ends what was idle, unread or unfinished for too long. Called regularly. */
  check(now: number): void {
    this.#countUnread(); // of a response that is written in parts
    const { since: unreadSince = now } = this.unread;
    if (now - unreadSince > this.#gates.limits.writeTimeout) this.destroy();
    else if (this.#isIdleInStop(now)) this.close();
    else this.#checkState(now - this.#since);
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: () => void): void {
    this.#socket.write(chunk, encoding, () => {
      done();
      this.#countUnread();
    });
    this.#countUnread();
  }

  /** `node:http`, too, ends the stream after the last response, and a listener can. */
  override _final(done: () => void): void {
    this.#beginClosing();
    this.#socket.end();
    done();
  }

  override _destroy(_error: unknown, done: () => void): void {
    // Reset, not closed: after a close the operating system goes on sending, for minutes to a client that does not read.
    if (this.unread.since === undefined) this.#socket.destroy();
    else this.#socket.resetAndDestroy();
    this.#beginClosing();
    this.#countUnread();
    this.#gates.open.delete(this);
    done();
  }

  #receive(chunk: Buffer): void {
    this.#input.add(chunk);
    // Reads that much, so that a FIN behind it is noticed.
    const most = this.#state === 'closing' ? MOST_READ_CLOSING : MOST_WAITING;
    if (this.#input.length > most) this.#socket.pause();
    if (this.#state === 'new') void this.#feedInTurn();
    else this.feed();
  }

  /**
   * Feeds after the next turn, since the reset of a connection is read after its request. First requests, waiting input
   * and the ends of connections take turns: thousands at once would stall the event loop ("2,500 idle connections after
   * GET /livez").
   */
  async #feedInTurn(): Promise<void> {
    await nextTurn();
    await this.#gates.turns.takeTurn(this.remoteAddress ?? '');
    this.#isFeedDue = false;
    this.feed();
  }

  /**
   * Feeds the next piece after other connections had their turn: a body in chunks could have thousands. Once a turn: where
   * a request is answered at once, its end and its response would feed twice, the next two four times, and so on.
   */
  #feedSoon(): void {
    const hasInput = this.#input.length > 0 || this.#socket.readableEnded;
    if (this.#isFeedDue || !hasInput) return;
    this.#isFeedDue = true;
    void this.#feedInTurn();
  }

  /** Takes a piece of a request between responses, and of a body while the listener reads it. */
  #takePiece(): Buffer | undefined {
    const mayParse = this.#response === undefined || (this.#isBodyWanted && !this.#isParsed);
    if (!mayParse) return undefined;
    this.#noticeRequest();
    return this.#input.take(this.#response ? MOST_CHUNKED : Infinity);
  }

  /** Begins to read a request if its first byte has come. */
  #noticeRequest(): void {
    const awaitsRequest = this.#state === 'new' || this.#state === 'idle';
    if (!awaitsRequest || !this.#input.beginRequest()) return;
    if (this.#state === 'idle') this.#since = performance.now();
    this.#state = 'reading';
  }

  /** Begins to pass the body to a listener that begins to read it. */
  #readBody(response: ServerResponse, expectsContinue: boolean): void {
    if (this.#response !== response || this.#isBodyWanted) return;
    this.#isBodyWanted = true;
    // Without it `node:http` would close the connection.
    if (expectsContinue && !response.headersSent) response.writeContinue();
    this.feed();
  }

  /** Withdraws `closeAfterResponse` from the response to a request that has been read to its end. */
  #keepOpen(response: ServerResponse): void {
    if (response.headersSent || this.#gates.isDraining) return;
    if (response.getHeader('Connection') === OWN_CLOSE) response.removeHeader('Connection');
  }

  /** Whether all of the request has come, parsed or not. The end of a body in chunks only the parser knows. */
  #hasReceived({ complete, headers }: IncomingMessage): boolean {
    if (complete) return true;
    return headers['transfer-encoding'] === undefined && this.#input.hasWholeBody;
  }

  /** The client has ended its side, and everything before that was dealt with. */
  #endInput(): void {
    const response = this.#response;
    if (response === undefined) return this.close();
    if (!this.#hasReceived(response.req)) {
      // A listener that does not read yet learns of it when it does.
      if (this.#isBodyWanted) this.fail(malformed());
    } else if (response.writableEnded) this.#beginClosing();
    else this.destroy(); // as in Node.js, a client that ends its side waits for no further response
  }

  #finish({ req: request }: ServerResponse): void {
    this.#response = undefined;
    this.#countUnread();
    const isOpen = this.#state === 'answering' && !this.writableEnded;
    if (!isOpen || !this.#hasReceived(request)) return this.close();
    this.#state = 'idle';
    this.#since = performance.now();
    this.#feedSoon();
  }

  /** Whether the server is stopping, and the client has sent no whole request within `stopGrace`. */
  #isIdleInStop(now: number): boolean {
    const { limits, stoppedAt } = this.#gates;
    const awaitsRequest = this.#response === undefined && this.#state !== 'closing';
    if (stoppedAt === undefined || !awaitsRequest) return false;
    return now - Math.max(stoppedAt, this.#since) > limits.stopGrace;
  }

  /** Ends the state if it went on for too long, in milliseconds. */
  #checkState(waited: number): void {
    const { limits } = this.#gates;
    switch (this.#state) {
      case 'new':
        // Without a response: one that nobody asked for could be taken for that of the next request.
        if (waited > limits.headersTimeout) this.close();
        break;
      case 'idle':
        if (waited > limits.keepAliveTimeout) this.close();
        break;
      case 'reading':
        if (waited > limits.headersTimeout) this.fail(new HttpError('request_timeout'));
        break;
      case 'answering':
        if (waited > limits.requestTimeout && !this.#isParsed)
          this.fail(new HttpError('request_timeout'));
        break;
      case 'closing':
        if (waited > limits.lingerTime) this.#endLinger();
    }
  }

  /** Waits on if the listener may still respond. */
  #endLinger(): void {
    if (this.#response === undefined || this.writableFinished) this.destroy();
  }

  /** Enters `closing`, or begins its time anew. Discards further input: unread input would reset the connection. */
  #beginClosing(): void {
    this.#state = 'closing';
    this.#since = performance.now();
    this.#input.clear();
    this.#socket.resume();
  }

  /** Counts the bytes of the response that wait to be sent. */
  #countUnread(): void {
    const isUnread = this.#response && !this.destroyed && this.#socket.writableLength > 0;
    this.unread.update(isUnread ? this.writableLength : 0);
  }
}

/** Calls back when a listener begins to read a request. One that reads by 'readable' does not resume. */
function onceRead(request: IncomingMessage, begin: () => void): void {
  request.once('resume', begin);
  request.on('newListener', (event) => {
    if (event === 'readable') process.nextTick(begin);
  });
}
