import { IncomingMessage, ServerResponse as NodeResponse } from 'node:http';
import type { HttpError } from '../http-error.js';
import { connectionOf } from './connection.js';

/** A request that knows when its listener begins to read its body, and whose body can end in a fault. */
export class ServerRequest extends IncomingMessage {
  #isWanted = false;
  #fault: HttpError | undefined;

  /** Has the body end with an error, once it is read. Calls `unheard` if the reader does not listen for errors. */
  fail(fault: HttpError, unheard: () => void): void {
    const deliver = (): void => {
      if (this.listenerCount('error') === 0) return unheard();
      this.#fault = fault;
      this.destroy(fault);
    };
    // Readers begin to read before they listen for errors.
    this.whenWanted(() => process.nextTick(deliver));
  }

  /** Calls `run` when the listener begins to read the body, at once if it does already. */
  whenWanted(run: () => void): void {
    if (this.#isWanted) run();
    else this.once('wanted', run);
  }

  override _read(size: number): void {
    if (!this.#isWanted) {
      this.#isWanted = true;
      this.emit('wanted');
    }
    super._read(size);
  }

  /** After a fault the connection stays open for the response. */
  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (this.#fault) callback(this.#fault);
    else super._destroy(error, callback);
  }
}

/** A response that closes its connection if need be, however it is written. */
export class ServerResponse extends NodeResponse<ServerRequest> {
  /** `node:http` calls it for every response, before anything is sent. */
  override writeHead(...head: unknown[]): this {
    if (!this.headersSent && connectionOf(this.req).closesAfterResponse())
      this.setHeader('Connection', 'close');
    return (super.writeHead as (...head: unknown[]) => this).apply(this, head);
  }
}
