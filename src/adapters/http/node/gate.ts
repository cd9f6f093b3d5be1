import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { HttpError } from '../error-responses.js';
import type { AdmissionControl } from './admission-control.js';
import { expectations, lateRequest, truncated } from './refusals.js';
import type { ServerLimits } from './server-limits.js';

const NOTHING = Buffer.alloc(0);
/** Ends the headers of a request, and a body in chunks. */
const EMPTY_LINE = Buffer.from('\r\n\r\n');
/** How much input may wait for a response before the socket is paused, in bytes. */
const MOST_WAITING = 16 * 1024;
/** How many pieces of a body are parsed before other connections get their turn. */
const PIECES_PER_TURN = 16;
/** How much input is discarded after the last response, in bytes. The rest stays in the network. */
const MOST_DISCARDED = 64 * 1024;
/** The value of a Connection header that a gate has set: no other value is equal to it. */
const CLOSE = ['close'];

/** What the gates of a server share. */
export interface Gates {
  readonly limits: ServerLimits;
  readonly open: Set<Gate>;
  /** The gates that wait for their clients, for a request or for reading. The first has waited longest. */
  readonly waiting: Set<Gate>;
  readonly admission: AdmissionControl | undefined;
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
 * - `idle`: nothing of a request has come, on a new connection or since the last response
 * - `reading`: the beginning of a request's headers has come
 * - `answering`: the listener has the request; it may still read the body
 * - `closing`: no more input is parsed; a response may still go out
 */
type State = 'idle' | 'reading' | 'answering' | 'closing';

/**
 * The connection of a client, as `node:http` sees it: a stream over the socket that lets one request through at a time.
 * `node:http` gets nothing of the next one before the response has been sent, so a client that pipelines many requests
 * and reads nothing costs one response and one chunk of input.
 */
export class Gate extends Duplex {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  /** The id of the API key of the request in progress; empty while it is unknown. */
  keyId = '';
  /** The response to the request in progress. */
  response: ServerResponse | undefined;
  readonly #socket: Socket;
  readonly #gates: Gates;
  #state: State = 'idle';
  /** When the state began; for `answering`, when the request began to come. */
  #since = performance.now();
  #isNew = true;
  #input: Buffer = NOTHING;
  #isFeeding = false;
  /** Of a body of known length, what was not parsed yet, in bytes. */
  #bodyLeft = 0;
  /** Whether the listener has begun to read the body. */
  #isRead = false;
  #expectsContinue = false;
  /** What is wrong with the body, until the listener reads it. */
  #fault: HttpError | undefined;
  /** Whether the response in progress is the connection's last. */
  #isLast = false;
  #discarded = 0;
  #unsent = 0;
  #unsentSince = 0;
  #linger: NodeJS.Timeout | undefined;

  constructor(socket: Socket, gates: Gates) {
    super({ decodeStrings: false });
    this.#socket = socket;
    this.#gates = gates;
    ({ remoteAddress: this.remoteAddress, remotePort: this.remotePort } = socket);
    gates.open.add(this);
    gates.waiting.add(this);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    // The end must not overtake the first request.
    socket.on('end', () => setImmediate(setImmediate, this.#endInput));
    socket.on('error', () => {}); // it closes after it
    socket.on('close', () => this.destroy());
    this.on('error', () => {});
  }

  /** Begins to feed `node:http`, whose listeners must be there: each piece must be parsed before the next one. */
  open(): void {
    this.on('data', this.feed);
    this.on('drain', () => {
      this.#countUnsent();
      this.feed();
    });
  }

  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  /** Whether a further request has come before the response. */
  get pipelines(): boolean {
    return this.#input.length > this.#bodyLeft;
  }

  /** Has no effect: the server keeps the limits. */
  setTimeout(): this {
    return this;
  }

  /** Lets the listener have a request whose headers were parsed. */
  begin(response: ServerResponse): void {
    const { req: request } = response;
    this.response = response;
    this.keyId = '';
    this.#state = 'answering';
    this.#isNew = false;
    this.#gates.waiting.delete(this);
    this.#bodyLeft = Number(request.headers['content-length'] ?? 0);
    this.#isRead = false;
    this.#expectsContinue = expectations(request).length > 0;
    response.once('close', this.#finish);
    this.#isLast = false;
    if (this.#isHere(request)) this.#continue(response);
    else {
      // Both are needed: whoever reads by 'readable' does not resume.
      request.once('resume', this.#read);
      request.on('newListener', (event) => {
        if (event === 'readable' || event === 'data') process.nextTick(this.#read);
      });
    }
    if (this.#gates.isDraining || !this.#isHere(request)) this.#setLast(true);
  }

  /** Makes the response in progress the last. A response that has begun stays what it is. */
  drain(): void {
    if (this.response) this.#setLast(true);
  }

  /** Lets the next piece of the input through, if there is one and it may be parsed. */
  readonly feed = (): void => {
    if (this.#isFeeding || this.#gates.isHeld) return;
    this.#isFeeding = true;
    let pieces = 0;
    while (pieces < PIECES_PER_TURN && this.readableLength === 0) {
      const length = this.#pieceLength();
      if (length === 0) break;
      const input = this.#input;
      this.#input = length === input.length ? NOTHING : input.subarray(length);
      this.#bodyLeft -= Math.min(this.#bodyLeft, length);
      this.push(input.subarray(0, length));
      pieces += 1;
    }
    this.#isFeeding = false;
    if (pieces === PIECES_PER_TURN) setImmediate(this.feed);
    const { response } = this;
    if (response && this.#isLast && !this.#gates.isDraining && this.#isHere(response.req)) {
      this.#continue(response);
      this.#setLast(false);
    }
    if (this.#socket.isPaused() && this.#input.length <= MOST_WAITING) this.#socket.resume();
  };

  /** Deals with late or malformed input. A listener that reads the body and listens for errors responds itself. */
  fail(fault: HttpError, bytes?: Buffer): void {
    if (this.#state === 'closing') return;
    this.#stop();
    const { response } = this;
    if (response?.writableEnded) return;
    if (response === undefined) this.#gates.refuse(this, fault, bytes);
    else if (this.#isRead) process.nextTick(this.#deliver, response, fault);
    // Until it reads the body, the listener may have begun what needs none.
    else if (fault.code === 'request_timeout') this.#refuse(response, fault);
    else this.#fault = fault;
  }

  /** Ends the server's side after `last`, then gives the client a moment to read and to close. */
  close(last = ''): void {
    this.#stop();
    if (!this.writableEnded) this.end(last);
  }

  /** Called regularly. Ends what was idle, unread or unfinished for too long. */
  check(now: number): void {
    const { limits, stoppedAt } = this.#gates;
    this.#countUnsent(); // of a response that is written in parts
    if (this.#unsent > 0 && now - this.#unsentSince > limits.writeTimeout) this.destroy();
    const waited = now - this.#since;
    const { response } = this;
    if (this.#state === 'answering') {
      // Nobody waits for the rest of a body whose response was ended.
      const isWaiting = !response?.req.complete && !response?.writableEnded;
      if (isWaiting && waited > limits.requestTimeout) this.fail(lateRequest());
    } else if (Math.min(waited, now - stoppedAt) > limits.stopGrace) this.close();
    else if (this.#state === 'reading' && waited > limits.headersTimeout) this.fail(lateRequest());
    // Without a response: one that nobody asked for could be taken for that of the next request.
    else if (waited > (this.#isNew ? limits.headersTimeout : limits.keepAliveTimeout)) this.close();
  }

  override _read(): void {
    // Input is pushed as it comes, one piece at a time.
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: () => void): void {
    this.#socket.write(chunk, encoding, done);
    this.#countUnsent();
  }

  /** `node:http`, too, ends the stream after the last response, and a listener can. */
  override _final(done: () => void): void {
    this.#stop();
    this.#socket.end();
    this.#linger = setTimeout(() => this.destroy(), this.#gates.limits.lingerTime).unref();
    done();
  }

  override _destroy(_error: unknown, done: () => void): void {
    // Reset, not closed: after a close the operating system goes on sending, for minutes to a client that does not read.
    if (this.#unsent > 0) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
    this.#stop();
    clearTimeout(this.#linger);
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
    // A client may have reset a new connection before it was accepted. Its reset is read after its request.
    if (this.#isNew) setImmediate(setImmediate, this.feed);
    else this.feed();
  }

  readonly #endInput = (): void => {
    if (this.#state === 'closing') return; // a malformed body may still be answered
    const { response } = this;
    if (response === undefined) this.close();
    else if (!this.#isHere(response.req)) this.fail(truncated());
    // As in Node.js, a client that ends its side waits for no further response.
    else if (response.writableEnded) this.#stop();
    else this.destroy();
  };

  /** The length of the input that may be parsed now: at most to the end of the current request. */
  #pieceLength(): number {
    if (this.#state === 'closing' || this.writableNeedDrain || this.#socket.destroyed) return 0;
    if (this.#bodyLeft > 0) return Math.min(this.#bodyLeft, this.#input.length);
    if (this.response) return this.response.req.complete ? 0 : chunksLength(this.#input);
    if (this.#state === 'idle') this.#beginReading();
    return headersLength(this.#input);
  }

  #beginReading(): void {
    // An empty line begins no request (RFC 9112, 2.2).
    const begin = this.#input.findIndex((byte) => byte !== 13 && byte !== 10);
    this.#input = begin < 0 ? NOTHING : this.#input.subarray(begin);
    if (begin < 0) return;
    this.#state = 'reading';
    this.#since = performance.now();
  }

  /** Whether the whole request has come. */
  #isHere({ complete, headers }: IncomingMessage): boolean {
    return (
      complete ||
      (headers['transfer-encoding'] === undefined && this.#input.length >= this.#bodyLeft)
    );
  }

  readonly #read = (): void => {
    const { response } = this;
    if (this.#isRead || response === undefined) return;
    this.#isRead = true;
    this.#continue(response);
    if (this.#fault) this.#deliver(response, this.#fault);
  };

  /** Sends 100, once, to a client that expects it. Without it `node:http` would close the connection. */
  #continue(response: ServerResponse): void {
    if (this.#expectsContinue && !response.headersSent) response.writeContinue();
    this.#expectsContinue = false;
  }

  #setLast(isLast: boolean): void {
    const { response } = this;
    if (response === undefined || response.headersSent) return;
    this.#isLast = isLast;
    if (isLast) response.setHeader('Connection', CLOSE);
    else if (response.getHeader('Connection') === CLOSE) response.removeHeader('Connection');
  }

  /** Makes reading the body fail, or responds for a listener that does not hear of it. */
  readonly #deliver = (response: ServerResponse, fault: HttpError): void => {
    if (response.writableEnded) return;
    if (response.req.listenerCount('error') > 0) response.req.emit('error', fault);
    else this.#refuse(response, fault);
  };

  #refuse(response: ServerResponse, fault: HttpError): void {
    if (response.headersSent) this.destroy();
    else this.#gates.refuse(this, fault);
  }

  readonly #finish = (): void => {
    const { response } = this;
    this.response = undefined;
    this.#countUnsent();
    if (this.destroyed || this.writableEnded) return;
    if (this.#isLast || this.#state === 'closing' || (response && !this.#isHere(response.req)))
      return this.close();
    this.#state = 'idle';
    this.#since = performance.now();
    this.#gates.waiting.add(this);
    if (this.#input.length > 0) setImmediate(this.feed);
  };

  /** Parses no more, and discards further input: unread input would reset the connection. */
  #stop(): void {
    this.#state = 'closing';
    this.#input = NOTHING;
    this.#socket.resume();
  }

  /** Updates, for the key of the request, how many bytes of the response wait to be sent. */
  #countUnsent(): void {
    const { admission, waiting } = this.#gates;
    const isUnsent = this.response && !this.destroyed && this.#socket.writableLength > 0;
    const bytes = isUnsent ? this.writableLength : 0;
    if (bytes === this.#unsent) return;
    this.#unsentSince = performance.now();
    if (bytes > 0) waiting.add(this);
    else waiting.delete(this);
    admission?.countUnsent(this.keyId, bytes - this.#unsent);
    this.#unsent = bytes;
  }
}

/** The length of headers, or of what has come of them. */
const headersLength = (input: Buffer): number => {
  const end = input.indexOf(EMPTY_LINE);
  if (end >= 0) return end + EMPTY_LINE.length;
  // The beginning of an empty line waits for its end, which may come in the next chunk.
  const begun = [3, 2, 1].find((count) =>
    input.subarray(-count).equals(EMPTY_LINE.subarray(0, count)),
  );
  return input.length - (begun ?? 0);
};

/** A part of a body in chunks that does not go beyond its end: the last chunk ends with an empty line, as headers do. */
const chunksLength = headersLength;
