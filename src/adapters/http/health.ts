import type { Call } from '../../application/animal-store.js';
import { UnavailableError } from '../../domain/errors.js';
import { Deadline } from './deadline.js';
import type { HttpResponse } from './http-message.js';
import { READ_HEADERS } from './response-headers.js';
import { openRoute, type Route } from './routes.js';

/** How long the result of a check is reused, and the longest a check may take, in milliseconds. */
const FRESH = 1000;

/** The result of a check: why the store cannot serve, if so. */
interface Checked {
  readonly at: number;
  readonly fault?: Error;
}

/** Whether the service wants requests: the store can serve, and the service is not about to stop. */
export class Readiness {
  readonly #checkStore: (call: Call) => Promise<void>;
  #latest: Checked | undefined;
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

  /**
   * Resolves if the service is ready. Checks the store at most once a second, except before the first result.
   * @throws {UnavailableError} it is not
   */
  async check(): Promise<void> {
    if (this.#stopping) throw new UnavailableError('stopping');
    const now = performance.now();
    // While one request checks, others use the latest result: they cannot wait for its promise on every runtime.
    const isFresh = this.#latest && (now - this.#latest.at < FRESH || now - this.#began < FRESH);
    const { fault } = isFresh && this.#latest ? this.#latest : await this.#checkInTime(now);
    if (fault !== undefined) throw fault;
  }

  async #checkInTime(now: number): Promise<Checked> {
    this.#began = now;
    const deadline = new Deadline(FRESH);
    try {
      await deadline.within(this.#checkStore(deadline));
      this.#latest = { at: now };
    } catch (error) {
      this.#latest = { at: now, fault: error as Error };
    } finally {
      deadline.stop();
    }
    return this.#latest;
  }
}

/** `/livez`: the process responds. `/readyz`: it wants requests. Only the second asks the store. */
export const healthRoutes = (readiness: Readiness): Route[] => [
  openRoute('/livez', async () => healthy('{"live":true}'), true),
  openRoute('/readyz', async () => readiness.check().then(() => healthy('{"ready":true}')), true),
];

const healthy = (body: string): HttpResponse => ({ status: 200, headers: READ_HEADERS, body });
