import type { Call } from '../../application/animal-store.js';
import type { ApiKeyRecord, ApiKeyRepository } from '../../application/ports/api-key-repository.js';

/** How long a look-up's answer may be used, in milliseconds: half of the second in which a revocation takes effect. */
const LIFETIME = 500;

/** How many look-ups are remembered at most. */
const CAPACITY = 1000;

/**
 * Looks keys up by id, and for 500 ms after a look-up began answers with what it found, so that a busy key
 * costs two look-ups a second and not one a request. Calls that overlap share a look-up. Keys that do not
 * exist and failures are not remembered.
 */
export class ApiKeyCache {
  readonly #keys: Pick<ApiKeyRepository, 'findById'>;
  readonly #monotonicNow: () => number;
  /** By id; the oldest look-up first, for each is put at the end when it begins. */
  readonly #lookUps = new Map<string, LookUp>();

  /** @param monotonicNow milliseconds of a clock that is never set back. */
  constructor(keys: Pick<ApiKeyRepository, 'findById'>, monotonicNow: () => number) {
    this.#keys = keys;
    this.#monotonicNow = monotonicNow;
  }

  async find(id: string, { signal }: Call = {}): Promise<ApiKeyRecord | undefined> {
    const lookUp = this.#recent(id) ?? this.#begin(id);
    if (lookUp.found !== undefined) return lookUp.found;
    lookUp.waiting += 1;
    try {
      return await unlessAborted(lookUp.answer, signal);
    } finally {
      lookUp.waiting -= 1;
      if (lookUp.waiting === 0 && lookUp.found === undefined) this.#end(id, lookUp);
    }
  }

  #recent(id: string): LookUp | undefined {
    const lookUp = this.#lookUps.get(id);
    // Counted from the beginning of the look-up, for the store may have read the key right then.
    return lookUp && this.#monotonicNow() - lookUp.begun < LIFETIME ? lookUp : undefined;
  }

  #begin(id: string): LookUp {
    const begun = this.#monotonicNow();
    // Nobody's own signal: one caller that leaves must not end the look-up of the others.
    const abort = new AbortController();
    const answer = this.#keys.findById(id, { signal: abort.signal }).then((found) => (lookUp.found = found));
    const lookUp: LookUp = { begun, abort, answer, waiting: 0, found: undefined };
    this.#lookUps.delete(id);
    const [oldest] = this.#lookUps.keys();
    if (oldest !== undefined && this.#lookUps.size >= CAPACITY) this.#lookUps.delete(oldest);
    this.#lookUps.set(id, lookUp);
    return lookUp;
  }

  /** Nothing was found, or nobody waits for it any more. */
  #end(id: string, lookUp: LookUp): void {
    if (this.#lookUps.get(id) === lookUp) this.#lookUps.delete(id);
    lookUp.abort.abort();
  }
}

interface LookUp {
  readonly begun: number;
  readonly abort: AbortController;
  readonly answer: Promise<ApiKeyRecord | undefined>;
  /** How many calls wait for the answer. */
  waiting: number;
  found: ApiKeyRecord | undefined;
}

function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return answer;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([answer, aborted]).finally(() => signal.removeEventListener('abort', abort));
}
