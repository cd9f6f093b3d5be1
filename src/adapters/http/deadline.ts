import { UnavailableError } from '../../domain/errors.js';

/** The time that one request has left. */
export class Deadline {
  readonly #milliseconds: number;
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reject: ((reason: Error) => void) | undefined;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
    this.#start();
  }

  /** Aborted when the time is over or the client has disconnected. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for `work` until the deadline at most, whether or not the work heeds the signal. */
  within<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#reject = reject;
      work.then(resolve, reject);
      if (this.signal.aborted) reject(this.signal.reason);
    });
  }

  /** Waits for `work` of the client, which servers limit, as long as it is connected. Then starts the time anew. */
  async outside<T>(work: Promise<T>): Promise<T> {
    this.stop();
    try {
      return await this.within(work);
    } finally {
      this.#start();
    }
  }

  /** Ends the waiting, and the work if it heeds the signal. */
  abort(reason: Error): void {
    this.stop();
    this.#controller.abort(reason);
    this.#reject?.(reason);
  }

  /** Call it when the response is complete. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #start(): void {
    this.#timer = setTimeout(expire, this.#milliseconds, this);
    // The process may end meanwhile. Outside Node.js a timer is a number.
    (this.#timer as { unref?(): unknown }).unref?.();
  }
}

const expire = (deadline: Deadline): void =>
  deadline.abort(new UnavailableError('answering within the deadline'));
