import type { CallOptions } from '../../application/animal-store.js';
import { UnavailableError } from '../../domain/errors.js';
import { JSON_TYPE, REVALIDATED, type HttpResponse } from './http-message.js';
import { withTimeLimit } from './request-timer.js';
import { openRoute, type Route } from './routes.js';

/** The longest a check may take, and the time after which the next one begins, in milliseconds. */
const CHECK_INTERVAL = 1000;

/** The age at which a result no longer counts, in milliseconds. */
const MAX_AGE = 3000;

/** Whether the service wants requests: the store can serve, and the service is not about to stop. */
export class Readiness {
  readonly #checkStore: (options: CallOptions) => Promise<void>;
  /** When the latest check began. */
  #checkedAt = -Infinity;
  /** When the check began that gave the latest result. */
  #resultFrom = -Infinity;
  #fault: unknown;
  #stopping = false;

  /** @param checkStore resolves if the store can serve, else rejects with `UnavailableError` */
  constructor(checkStore: (options: CallOptions) => Promise<void>) {
    this.#checkStore = checkStore;
  }

  /** Makes the service not ready, for good: load balancers then send requests elsewhere. */
  stop(): void {
    this.#stopping = true;
  }

  /**
   * Resolves if the service is ready. Checks the store at most once a second, except before the first result.
   * @throws {UnavailableError} it is not
   */
  async check(): Promise<void> {
    if (this.#stopping)
      throw new UnavailableError('stopping', { message: 'The service is stopping.' });
    const now = performance.now();
    // While one request checks, others use the latest result: Workers forbid waiting for another request's promise.
    const isKnown = now - this.#resultFrom < MAX_AGE;
    const isDue = now - this.#checkedAt >= CHECK_INTERVAL;
    if (isDue || !isKnown) await this.#checkInTime(now);
    if (this.#fault !== undefined) throw this.#fault as Error;
  }

  async #checkInTime(now: number): Promise<void> {
    this.#checkedAt = now;
    try {
      await withTimeLimit(CHECK_INTERVAL, this.#checkStore);
      this.#fault = undefined;
    } catch (fault) {
      this.#fault = fault;
    }
    this.#resultFrom = now;
  }
}

/** `/livez`: the process responds. `/readyz`: it wants requests. Only the second asks the store. */
export function healthRoutes(readiness: Readiness): Route[] {
  const headers = { 'Content-Type': JSON_TYPE, ...REVALIDATED };
  const healthy = (body: string): HttpResponse => ({ status: 200, headers, body });
  return [
    openRoute('/livez', { alwaysServed: true, handle: () => healthy('{"live":true}') }),
    openRoute('/readyz', {
      alwaysServed: true,
      async handle() {
        await readiness.check();
        return healthy('{"ready":true}');
      },
    }),
  ];
}
