import { StoreUnavailableError } from '../../domain/errors.js';

/**
 * The time that requests have. All have the same, so the one that began first ends first, and one timer is
 * enough for all: a timer or `AbortSignal.timeout` for each request would cost several microseconds.
 */
export class Deadlines {
  readonly #milliseconds: number;
  /** In the order of their ends. */
  readonly #running = new Map<Deadline, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  start(): Deadline {
    const deadline = new Deadline(this);
    this.resume(deadline);
    return deadline;
  }

  /** Gives the request its whole time, from now. */
  resume(deadline: Deadline): void {
    this.#running.set(deadline, performance.now() + this.#milliseconds);
    if (this.#timer === undefined) this.#timer = setTimeout(this.#expire, this.#milliseconds).unref();
  }

  stop(deadline: Deadline): void {
    this.#running.delete(deadline);
  }

  readonly #expire = (): void => {
    this.#timer = undefined;
    const now = performance.now();
    for (const [deadline, end] of this.#running) {
      if (end > now) {
        this.#timer = setTimeout(this.#expire, Math.ceil(end - now)).unref();
        return;
      }
      this.#running.delete(deadline);
      deadline.abort(new StoreUnavailableError('answering within the deadline'));
    }
  };
}

/** One request's time. */
export class Deadline {
  readonly #deadlines: Deadlines;
  readonly #controller = new AbortController();
  #reject: ((reason: Error) => void) | undefined;

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines;
  }

  /** Aborted when the time is over or the client has gone. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for `work` no longer than the time allows, whether or not the work heeds the signal. */
  within<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#reject = reject;
      work.then(resolve, reject);
      if (this.signal.aborted) reject(this.signal.reason);
    });
  }

  /** Waits for the client, whose slowness has limits of its own; the time starts anew after it. */
  async outside<T>(waiting: Promise<T>): Promise<T> {
    this.stop();
    try {
      return await waiting;
    } finally {
      this.#deadlines.resume(this);
    }
  }

  abort(reason: Error): void {
    this.stop();
    this.#controller.abort(reason);
    this.#reject?.(reason);
  }

  stop(): void {
    this.#deadlines.stop(this);
  }
}
