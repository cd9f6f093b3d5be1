import { write, writeSync } from 'node:fs';

/** How much is written together, in characters. */
const TOGETHER = 16 * 1024;
/** How long a line waits for others at most, in milliseconds. If nothing was written for that long, it does not wait. */
const LONGEST_WAIT = 100;
/** When a pipe that does not block is tried again, in milliseconds. */
const RETRY = 10;
/** How long a program that ends waits for somebody to read its log, in milliseconds. */
const PATIENCE = 1000;
/** How much may wait, in characters. Further lines are dropped. */
const MOST_WAITING = 8 * 1024 * 1024;

/**
 * Writes the lines of a log to a file descriptor: many together, because one write for each costs more than the rest
 * of a small request, and without waiting for a slow reader. What cannot be written is dropped. pino's own destination
 * ends the program then, or tries forever at its exit.
 */
export class LogWriter {
  readonly #fd: number;
  #waiting = '';
  #isWriting = false;
  #dropped = 0;
  /** When the last write began, or wrote something. */
  #lastActive = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(fd: number) {
    this.#fd = fd;
    process.on('exit', () => this.#writeLast());
  }

  /** Takes whole lines, with their line breaks. */
  write(line: string): void {
    if (this.#waiting.length > MOST_WAITING) {
      this.#dropped += 1;
      return;
    }
    if (this.#dropped > 0) {
      const msg = 'lines of the log were dropped';
      const warning = { level: 40, time: new Date(), dropped: this.#dropped, msg };
      this.#waiting += `${JSON.stringify(warning)}\n`;
      this.#dropped = 0;
    }
    this.#waiting += line;
    if (!this.#isWriting) this.#writeSoon();
  }

  #writeSoon(): void {
    if (this.#waiting.length >= TOGETHER) this.#writeWaiting();
    else if (this.#waiting !== '' && this.#timer === undefined) {
      const wait = Math.max(1, this.#lastActive + LONGEST_WAIT - performance.now());
      this.#timer = setTimeout(() => this.#writeWaiting(), wait).unref();
    }
  }

  #writeWaiting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lastActive = performance.now();
    this.#isWriting = true;
    const bytes = Buffer.from(this.#waiting);
    this.#waiting = '';
    this.#writeBytes(bytes);
  }

  #writeBytes(bytes: Buffer): void {
    write(this.#fd, bytes, 0, bytes.length, null, (error, written) => {
      if (error?.code === 'EAGAIN') {
        const timer = setTimeout(() => this.#writeBytes(bytes), RETRY);
        if (performance.now() - this.#lastActive > PATIENCE) timer.unref();
        return;
      }
      this.#lastActive = performance.now();
      if (error === null && written < bytes.length) return this.#writeBytes(bytes.subarray(written));
      this.#isWriting = false;
      this.#writeSoon();
    });
  }

  #writeLast(): void {
    try {
      writeSync(this.#fd, this.#waiting);
    } catch {
      // Nobody reads it.
    }
  }
}
