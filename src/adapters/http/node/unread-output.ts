import type { AdmissionControl } from './admission-control.js';

/** How much of a response its client has not read, counted for the key of the request. */
export class UnreadOutput {
  readonly #admission: AdmissionControl | undefined;
  /** The id of the API key of the current or latest request; empty while it is unknown. */
  keyId = '';
  #bytes = 0;
  #since = 0;

  constructor(admission: AdmissionControl | undefined) {
    this.#admission = admission;
  }

  /** When the client last read something, by `performance.now()`; `undefined` if it has read everything. */
  get since(): number | undefined {
    return this.#bytes > 0 ? this.#since : undefined;
  }

  /** @param bytes what is unread now */
  update(bytes: number): void {
    if (bytes === this.#bytes) return;
    this.#since = performance.now();
    this.#admission?.countUnsent(this.keyId, bytes - this.#bytes);
    this.#bytes = bytes;
  }
}
