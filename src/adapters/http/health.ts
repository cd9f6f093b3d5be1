import type { Call } from '../../application/animal-store.js';
import { UnavailableError } from '../../domain/errors.js';
import { Deadline } from './deadline.js';
import type { HttpResponse } from './http-message.js';
import { READ_HEADERS } from './response-headers.js';
import { openRoute, type Route } from './routes.js';

/** How long the store's answer to a check is reused, and the longest a check may take, in milliseconds. */
const FRESH = 1000;

/** Whether the service wants requests: the store can serve, and the service is not about to stop. */
export class Readiness {
  readonly #checkStore: (call: Call) => Promise<void>;
  #latest: { readonly at: number; readonly result: Promise<void> } | undefined;
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
   * Resolves if the service is ready. Checks the store at most once a second.
   * @throws {UnavailableError} it is not
   */
  async check(): Promise<void> {
    if (this.#stopping) throw new UnavailableError('stopping');
    const now = performance.now();
    if (this.#latest === undefined || now - this.#latest.at >= FRESH) {
      this.#latest = { at: now, result: this.#checkInTime() };
    }
    return this.#latest.result;
  }

  async #checkInTime(): Promise<void> {
    const deadline = new Deadline(FRESH);
    await deadline.within(this.#checkStore(deadline)).finally(() => deadline.stop());
  }
}

/** `/livez`: the process responds. `/readyz`: it wants requests. Only the second asks the store. */
export const healthRoutes = (readiness: Readiness): Route[] => [
  openRoute('/livez', async () => healthy('{"live":true}'), true),
  openRoute('/readyz', async () => readiness.check().then(() => healthy('{"ready":true}')), true),
];

const healthy = (body: string): HttpResponse => ({ status: 200, headers: READ_HEADERS, body });
