import type { Call } from '../../../application/animal-store.js';
import { UnavailableError } from '../../../domain/errors.js';

/** How long an answer of the store to "are you ready?" is good for, and how long it may take, in milliseconds. */
const FRESH = 1000;

/** Whether requests are wanted: the store would serve, and the service is not about to stop. */
export class Readiness {
  readonly #check: (call: Call) => Promise<void>;
  #latest: { readonly at: number; readonly result: Promise<void> } | undefined;
  #stopping = false;

  constructor(check: (call: Call) => Promise<void>) {
    this.#check = check;
  }

  /** From now on not ready: requests are to go elsewhere. */
  stop(): void {
    this.#stopping = true;
  }

  /** Resolves when ready, else rejects with `UnavailableError`. Asks the store at most once a second. */
  async check(): Promise<void> {
    if (this.#stopping) throw new UnavailableError('stopping');
    const now = performance.now();
    if (this.#latest === undefined || now - this.#latest.at >= FRESH) {
      this.#latest = { at: now, result: this.#ask() };
    }
    return this.#latest.result;
  }

  async #ask(): Promise<void> {
    const signal = AbortSignal.timeout(FRESH);
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new UnavailableError('checking the store in time')));
    });
    await Promise.race([this.#check({ signal }), late]);
  }
}
