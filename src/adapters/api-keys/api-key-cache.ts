import type { Call } from '../../application/animal-store.js';
import type { ApiKeyRecord, ApiKeyRepository } from '../../application/ports/api-key-repository.js';

/** How long a found key may be used, in milliseconds. */
const LIFETIME = 500;

/** The largest number of cached look-ups. */
const CAPACITY = 1000;

/**
 * Looks keys up by id and caches what it finds for 500 ms from the start of the look-up, so that a busy key costs two
 * look-ups a second instead of one a request. Overlapping calls share a look-up. Absent keys and failures are not
 * cached.
 */
export class ApiKeyCache {
  readonly #apiKeys: Pick<ApiKeyRepository, 'findById'>;
  readonly #monotonicNow: () => number;
  /** By id, the oldest look-up first. */
  readonly #lookUps = new Map<string, LookUp>();

  /** @param monotonicNow Milliseconds of a clock that never goes back. */
  constructor(apiKeys: Pick<ApiKeyRepository, 'findById'>, monotonicNow: () => number) {
    this.#apiKeys = apiKeys;
    this.#monotonicNow = monotonicNow;
  }

  async find(id: string, { signal }: Call = {}): Promise<ApiKeyRecord | undefined> {
    const lookUp = this.#recent(id) ?? this.#begin(id);
    if (lookUp.found !== undefined) return lookUp.found;
    lookUp.waiting += 1;
    try {
      return await unlessAborted(lookUp.result, signal);
    } finally {
      lookUp.waiting -= 1;
      if (lookUp.waiting === 0 && lookUp.found === undefined) this.#end(id, lookUp);
    }
  }

  #recent(id: string): LookUp | undefined {
    const lookUp = this.#lookUps.get(id);
    // Counted from the start of the look-up: the store may have read the key right then.
    return lookUp && this.#monotonicNow() - lookUp.begun < LIFETIME ? lookUp : undefined;
  }

  #begin(id: string): LookUp {
    const begun = this.#monotonicNow();
    // Its own signal: one caller that leaves must not end the look-up of the others.
    const abort = new AbortController();
    const result = this.#apiKeys
      .findById(id, { signal: abort.signal })
      .then((found) => (lookUp.found = found));
    const lookUp: LookUp = { begun, abort, result, waiting: 0, found: undefined };
    this.#lookUps.delete(id);
    const [oldest] = this.#lookUps.keys();
    if (oldest !== undefined && this.#lookUps.size >= CAPACITY) this.#lookUps.delete(oldest);
    this.#lookUps.set(id, lookUp);
    return lookUp;
  }

  /** Nothing was found, or no caller waits any more. */
  #end(id: string, lookUp: LookUp): void {
    if (this.#lookUps.get(id) === lookUp) this.#lookUps.delete(id);
    lookUp.abort.abort();
  }
}

interface LookUp {
  readonly begun: number;
  readonly abort: AbortController;
  readonly result: Promise<ApiKeyRecord | undefined>;
  /** The number of calls that wait for the result. */
  waiting: number;
  found: ApiKeyRecord | undefined;
}

function unlessAborted<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return result;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([result, aborted]).finally(() => signal.removeEventListener('abort', abort));
}
