import { UnavailableError } from '../../domain/errors.js';

/** Limits the time of one request. It always ends: by `stop`, by `abort`, or when the time is over. */
export class Deadline {
  readonly #milliseconds: number;
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reject: ((reason: Error) => void) | undefined;
  #stopped = false;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
    this.#start(milliseconds, tooSlow);
  }

  /** Aborted when the time is over or the client has disconnected. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Settles as `work` does, but at the latest at the deadline, even if the work ignores the signal. */
  within<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#reject = reject;
      work.then(resolve, reject);
      if (this.signal.aborted) reject(this.signal.reason);
    });
  }

  /**
   * Gives the client a time of its own for `work`, such as sending its body. Then the time of the request starts anew.
   * @param late makes the error for a client that takes longer
   */
  async whileClient<T>(work: Promise<T>, milliseconds: number, late: () => Error): Promise<T> {
    this.#start(milliseconds, late);
    const result = await work;
    this.#start(this.#milliseconds, tooSlow);
    return result;
  }

  /** Ends the waiting, and the work if it heeds the signal. Does nothing once stopped. */
  abort(because: () => Error): void {
    if (this.#stopped) return;
    this.stop();
    const reason = because();
    this.#controller.abort(reason);
    this.#reject?.(reason);
  }

  /** Stops the time, for good. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #start(milliseconds: number, because: () => Error): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    this.#timer = setTimeout(expire, milliseconds, this, because);
    // So that the process may end meanwhile. Outside Node.js a timer is a number.
    (this.#timer as { unref?(): unknown }).unref?.();
  }
}

const tooSlow = (): Error => new UnavailableError('answering within the deadline');

const expire = (deadline: Deadline, because: () => Error): void => deadline.abort(because);
