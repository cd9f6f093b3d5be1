import { UnavailableError } from '../../domain/errors.js';

/**
 * The time that requests have. All have the same, so the one that began first ends first, and one timer is
 * enough for all: a timer or `AbortSignal.timeout` for each request would cost several microseconds.
 */
export class Deadlines {
  readonly #milliseconds: number;
  /** In the order of their ends. */
  readonly #running = new Map<Deadline, number>();
  #waiting = false;

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
    if (!this.#waiting) this.#wait(this.#milliseconds);
  }

  stop(deadline: Deadline): void {
    this.#running.delete(deadline);
  }

  #wait(milliseconds: number): void {
    this.#waiting = true;
    // Where timers can be told to keep no process running: elsewhere they are numbers, or have no such choice.
    const timer: { unref?(): unknown } = setTimeout(this.#expire, milliseconds);
    timer.unref?.();
  }

  readonly #expire = (): void => {
    this.#waiting = false;
    const now = performance.now();
    for (const [deadline, end] of this.#running) {
      if (end > now) {
        this.#wait(Math.ceil(end - now));
        return;
      }
      this.#running.delete(deadline);
      deadline.abort(new UnavailableError('answering within the deadline'));
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

  /** Waits for the client, as long as it is there: its slowness has limits of its own. The time starts anew after it. */
  async outside<T>(waiting: Promise<T>): Promise<T> {
    this.stop();
    try {
      return await this.within(waiting);
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
