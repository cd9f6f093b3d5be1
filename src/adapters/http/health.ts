import type { Call } from '../../application/animal-store.js';
import { UnavailableError } from '../../domain/errors.js';
import { Deadline } from './deadline.js';
import type { HttpResponse } from './http-message.js';
import { JSON_HEADERS } from './response-headers.js';
import { openRoute, type Route } from './routes.js';

/** How long the result of a check is reused, and the longest a check may take, in milliseconds. */
const FRESH = 1000;

/** The result of a check; with `fault` the store cannot serve. */
type Checked = { readonly at: number } | { readonly at: number; readonly fault: unknown };

/** Whether the service wants requests: the store can serve, and the service is not about to stop. */
export class Readiness {
  readonly #checkStore: (call: Call) => Promise<void>;
  #latest: Checked = { at: -Infinity };
  #began = -Infinity;
  #stopping = false;

  /** @param checkStore resolves if the store can serve, else rejects with `UnavailableError` */
  constructor(checkStore: (call: Call) => Promise<void>) {
    this.#checkStore = checkStore;
  }

  /** Makes the service not ready, for good: load balancers then send requests elsewhere. */
  stop(): void {
    this.#stopping = true;
  }

  /** After a request that the service failed: the next check asks the store, unless it was known to be away. */
  doubt(): void {
    if (!('fault' in this.#latest)) this.#latest = { at: -Infinity };
  }

  /**
   * Resolves if the service is ready. Checks the store at most once a second, except before the first result or after
   * `doubt`.
   * @throws {UnavailableError} it is not
   */
  async check(): Promise<void> {
    if (this.#stopping) throw new UnavailableError('stopping');
    const now = performance.now();
    const age = now - this.#latest.at;
    // While one request checks, others use the latest result: Workers forbid waiting for another request's promise.
    const isKnown = age < FRESH || (age < 3 * FRESH && now - this.#began < FRESH);
    if (!isKnown) return this.#checkInTime(now);
    if ('fault' in this.#latest) throw this.#latest.fault as Error;
  }

  async #checkInTime(at: number): Promise<void> {
    this.#began = at;
    const deadline = new Deadline(FRESH);
    try {
      await deadline.within(this.#checkStore(deadline));
      this.#latest = { at };
    } catch (fault) {
      this.#latest = { at, fault };
      throw fault;
    } finally {
      deadline.stop();
    }
  }
}

/** `/livez`: the process responds. `/readyz`: it wants requests. Only the second asks the store. */
export const healthRoutes = (readiness: Readiness): Route[] => [
  openRoute('/livez', async () => healthy('{"live":true}'), true),
  openRoute('/readyz', async () => readiness.check().then(() => healthy('{"ready":true}')), true),
];

const healthy = (body: string): HttpResponse => ({ status: 200, headers: JSON_HEADERS, body });
