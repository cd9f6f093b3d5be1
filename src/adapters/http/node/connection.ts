import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** So many requests may wait on one connection; then, until all are answered, no more are read. */
const PAUSE_AT_WAITING = 100;

/**
 * The requests of one connection, taken one after the other: an answer that closes the connection must be
 * that of the last request that was processed (RFC 9112, 9.6).
 */
export class Connection {
  readonly #socket: Socket;
  readonly #waiting: Array<{ readonly request: IncomingMessage | undefined; readonly start: () => void }> =
    [];
  #current: ServerResponse | undefined;
  #received = 0;
  #closing = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** The response being made; others wait for it. */
  get current(): ServerResponse | undefined {
    return this.#current;
  }

  /** How many requests came on it. */
  get received(): number {
    return this.#received;
  }

  /** What closes the connection is decided: what else comes on it is not looked at. */
  get closing(): boolean {
    return this.#closing;
  }

  close(): void {
    this.#closing = true;
  }

  /** Has `start` called when it is the request's turn. */
  receive(request: IncomingMessage, response: ServerResponse, start: () => void): void {
    this.#received += 1;
    this.#queue(request, () => {
      this.#current = response;
      start();
    });
    if (this.#waiting.length === PAUSE_AT_WAITING) {
      // Not now: Node resumes the socket at the end of each request.
      setImmediate(() => this.#waiting.length > 0 && this.#socket.pause());
    }
  }

  /** The current response is out, or its client has gone: the next request's turn, if there can be one. */
  finish(): void {
    this.#current = undefined;
    if (!this.#socket.writable) return; // that answer was the connection's last
    this.#next();
    if (this.#waiting.length === 0 && !this.#closing && this.#socket.isPaused()) this.#socket.resume();
  }

  /** Has `end` called, which ends the connection, when all that came before was answered. */
  closeAfterOthers(end: () => void): void {
    this.close();
    this.#queue(undefined, end);
  }

  /** Takes the request that came last out of the queue, if it is cut off in its middle. */
  takeCut(): IncomingMessage | undefined {
    return this.#waiting.at(-1)?.request?.complete === false ? this.#waiting.pop()?.request : undefined;
  }

  #queue(request: IncomingMessage | undefined, start: () => void): void {
    this.#waiting.push({ request, start });
    this.#next();
  }

  #next(): void {
    if (this.#current === undefined) this.#waiting.shift()?.start();
  }
}
