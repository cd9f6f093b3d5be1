import { IncomingMessage } from 'node:http';

/** Chunks below this size are joined, in bytes. */
const SMALL = 512;

/**
 * A request that joins the small chunks of its body which are parsed together. Node.js makes a buffer of each chunk:
 * 64 KiB in chunks of one byte would take 16 MB, and the requests of one API key could exhaust the memory.
 */
export class JoinedRequest extends IncomingMessage {
  readonly #small: Buffer[] = [];
  /** Whether there was room after the last small chunks. */
  #hasRoom = true;

  /** Called by `node:http` for each chunk, and with null at the end of the body. */
  override push(chunk: Buffer | null): boolean {
    if (chunk !== null && chunk.length < SMALL) {
      if (this.#small.length === 0) process.nextTick(() => this.#pushSmall());
      this.#small.push(chunk);
      return this.#hasRoom;
    }
    this.#pushSmall();
    return super.push(chunk);
  }

  #pushSmall(): void {
    if (this.#small.length > 0) this.#hasRoom = super.push(Buffer.concat(this.#small.splice(0)));
  }
}
