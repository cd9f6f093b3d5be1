import type { CallOptions } from '../../application/animal-store.js';
import { UnavailableError } from '../../domain/errors.js';

/** Limits the time of one request. Once the request has its response, `stop` the timer. */
export class RequestTimer {
  readonly #controller = new AbortController();
  #timeout: ReturnType<typeof setTimeout> | undefined;
  #rejectWork: ((reason: Error) => void) | undefined;
  #isStopped = false;

  /**
   * Starts the timer.
   * @param late makes the error for when the time is over
   */
  constructor(milliseconds: number, late = lateResponse) {
    this.restart(milliseconds, late);
  }

  /** Aborted when the time is over or the client has disconnected. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Settles as `work` does. Rejects as soon as the signal is aborted, even if the work ignores the signal. */
  limit<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#rejectWork = reject;
      work.then(resolve, reject);
      if (this.signal.aborted) reject(this.signal.reason);
    });
  }

  /**
   * Starts the time anew. Does nothing once stopped.
   * @param late makes the error for when the time is over
   */
  restart(milliseconds: number, late: () => Error = lateResponse): void {
    clearTimeout(this.#timeout);
    if (this.#isStopped) return;
    this.#timeout = setTimeout(() => this.abort(late), milliseconds);
    // The timer must not keep the process alive. Outside Node.js it is a number.
    (this.#timeout as { unref?(): unknown }).unref?.();
  }

  /** Stops the timer, aborts the signal, and rejects the work. Does nothing once stopped. */
  abort(makeReason: () => Error): void {
    if (this.#isStopped) return;
    this.stop();
    const reason = makeReason();
    this.#controller.abort(reason);
    this.#rejectWork?.(reason);
  }

  /** Stops the timer, for good. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timeout);
  }
}

const lateResponse = (): Error =>
  new UnavailableError('responding', {
    message:
      'There was no response within the deadline: the store, an authenticator or a route is slow.',
  });

const lateStore = (): Error => new UnavailableError('answering within the deadline');

/**
 * Does work of the service itself on the store within this time, in milliseconds.
 * @throws {UnavailableError} the time is over, even if the work ignores its signal
 */
export async function withTimeLimit<T>(
  milliseconds: number,
  work: (options: CallOptions) => Promise<T>,
): Promise<T> {
  const timer = new RequestTimer(milliseconds, lateStore);
  try {
    return await timer.limit(work({ signal: timer.signal }));
  } finally {
    timer.stop();
  }
}
