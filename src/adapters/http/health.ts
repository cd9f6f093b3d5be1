import { unlessAborted, type CallOptions } from '../../application/call-options.js';
import { UnavailableError } from '../../domain/errors.js';
import { REVALIDATED_JSON, type HttpResponse } from './http-message.js';
import { RequestTimer } from './request-timer.js';
import { openRoute, type Route } from './routes.js';

/** The longest time of a check, and the shortest time between the starts of two, in milliseconds. */
const CHECK_INTERVAL = 1000;

/** Whether the service is ready for requests: the store can serve, and the service is not about to stop. */
export class Readiness {
  readonly #checkStore: (options: CallOptions) => Promise<void>;
  #result: Promise<void> = Promise.resolve();
  #checkedAt = -Infinity;
  #isStopping = false;

  /** @param checkStore resolves if the store can serve, else rejects with `UnavailableError` */
  constructor(checkStore: (options: CallOptions) => Promise<void>) {
    this.#checkStore = checkStore;
  }

  /** Makes the service not ready, for good: load balancers then send requests elsewhere. */
  stop(): void {
    this.#isStopping = true;
  }

  /**
   * Resolves if the service is ready. Checks the store at most once a second.
   * @throws {UnavailableError} it is not
   */
  async check(): Promise<void> {
    if (this.#isStopping) throw new UnavailableError('stopping');
    const now = performance.now();
    if (now - this.#checkedAt >= CHECK_INTERVAL) {
      this.#checkedAt = now;
      this.#result = this.#checkInTime();
    }
    return this.#result;
  }

  async #checkInTime(): Promise<void> {
    const timer = new RequestTimer(CHECK_INTERVAL);
    try {
      await unlessAborted(this.#checkStore({ signal: timer.signal }), timer.signal);
    } finally {
      timer.stop();
    }
  }
}

/** `/livez`: the process responds. `/readyz`: it is ready for requests. Only the second asks the store. */
export const healthRoutes = (readiness: Readiness): Route[] => [
  openRoute('/livez', { isHealthCheck: true, handle: () => healthy('{"live":true}') }),
  openRoute('/readyz', {
    isHealthCheck: true,
    async handle() {
      await readiness.check();
      return healthy('{"ready":true}');
    },
  }),
];

const healthy = (body: string): HttpResponse => ({
  status: 200,
  headers: REVALIDATED_JSON,
  body,
});
