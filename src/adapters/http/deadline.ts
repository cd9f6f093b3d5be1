import { UnavailableError } from '../../domain/errors.js';

/** The time that one request has left. */
export class Deadline {
  readonly #milliseconds: number;
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reject: ((reason: Error) => void) | undefined;
  #stopped = false;

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

  /** Pauses the time while the client does `work`, such as sending its body. Then starts it anew. */
  async pausedFor<T>(work: Promise<T>): Promise<T> {
    clearTimeout(this.#timer);
    const result = await work;
    this.signal.throwIfAborted();
    this.#start();
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

  #start(): void {
    this.#timer = setTimeout(expire, this.#milliseconds, this);
    // So that the process may end meanwhile. Outside Node.js a timer is a number.
    (this.#timer as { unref?(): unknown }).unref?.();
  }
}

const expire = (deadline: Deadline): void =>
  deadline.abort(() => new UnavailableError('answering within the deadline'));
