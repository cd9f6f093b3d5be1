import { IncomingMessage, ServerResponse as NodeResponse } from 'node:http';
import type { HttpError } from '../error-responses.js';

/** What a request expects, in lower case: nothing in HTTP/1.0, and nothing by empty members of the list. */
export const expectations = ({ headers, httpVersion }: IncomingMessage): string[] =>
  httpVersion === '1.0' || headers.expect === undefined
    ? []
    : headers.expect
        .toLowerCase()
        .split(',')
        .map((expectation) => expectation.trim())
        .filter(Boolean);

/** A request that tells when its listener reads the body. */
export class ServerRequest extends IncomingMessage {
  onRead: (() => void) | undefined;
  #isRead = false;

  /**
   * Makes reading the body fail, not before it is read: until then the listener may have begun what needs no body.
   * Calls `unheard` if the reader ignores errors, or if a late body is not read.
   */
  fail(fault: HttpError, unheard: () => void): void {
    if (fault.code === 'request_timeout' && !this.#isRead) return unheard();
    const deliver = () => (this.listenerCount('error') > 0 ? this.emit('error', fault) : unheard());
    this.onRead = () => {
      this.onRead = undefined;
      process.nextTick(deliver); // by then the reader listens
    };
    if (this.#isRead) this.onRead();
  }

  override _read(size: number): void {
    this.#isRead = true;
    super._read(size);
    this.onRead?.();
  }
}

/** A response that closes the connection where the connection asks for it. */
export class ServerResponse extends NodeResponse<ServerRequest> {
  /** Decides when the response begins whether it is the connection's last. */
  decideLast: (() => boolean) | undefined;
  /** Called once the whole response was handed to the socket. */
  onEnd: (() => void) | undefined;
  #hasContinued = false;

  /** Sends 100, once, to a client that expects it. */
  override writeContinue(): void {
    if (this.#hasContinued || this.headersSent || expectations(this.req).length === 0) return;
    this.#hasContinued = true;
    super.writeContinue();
  }

  /** `node:http` calls it for headers that are written implicitly, too. */
  override writeHead(...head: unknown[]): this {
    if (!this.headersSent && this.decideLast?.() === true) this.setHeader('Connection', 'close');
    return (super.writeHead as (...head: unknown[]) => this).apply(this, head);
  }

  override end(...last: unknown[]): this {
    (super.end as (...last: unknown[]) => this).apply(this, last);
    this.onEnd?.();
    return this;
  }
}
