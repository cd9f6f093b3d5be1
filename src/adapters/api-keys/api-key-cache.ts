import type { ApiKeyRecord, ApiKeyRepository } from '../../application/ports/api-key-repository.js';

/** How long a found key may be used, in milliseconds. */
const LIFETIME = 500;

/** The largest number of cached look-ups. */
const CAPACITY = 1000;

interface LookUp {
  readonly begun: number;
  /** Its own: one caller that leaves must not end the look-up of the others. */
  readonly abort: AbortController;
  readonly result: Promise<ApiKeyRecord | undefined>;
  /** The number of calls that wait for the result. */
  waiting: number;
  found: ApiKeyRecord | undefined;
}

/**
 * Caches what `findById` finds for 500 ms from the start of the look-up, so that a busy key costs two look-ups a second
 * instead of one a request. Overlapping calls share a look-up. Absent keys and failures are not cached.
 */
export function cachedFindById(apiKeys: Pick<ApiKeyRepository, 'findById'>): ApiKeyRepository['findById'] {
  /** By id, the oldest look-up first. */
  const lookUps = new Map<string, LookUp>();

  const begin = (id: string): LookUp => {
    const [begun, abort] = [performance.now(), new AbortController()];
    const result = apiKeys.findById(id, abort).then((found) => (lookUp.found = found));
    const lookUp: LookUp = { begun, abort, result, waiting: 0, found: undefined };
    lookUps.delete(id);
    const [oldest] = lookUps.keys();
    if (oldest !== undefined && lookUps.size >= CAPACITY) lookUps.delete(oldest);
    lookUps.set(id, lookUp);
    return lookUp;
  };

  return async (id, { signal } = {}) => {
    const earlier = lookUps.get(id);
    // Counted from the start of the look-up: the store may have read the key right then.
    const lookUp = earlier && performance.now() - earlier.begun < LIFETIME ? earlier : begin(id);
    lookUp.waiting += 1;
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = (): void => reject(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    try {
      return await Promise.race([lookUp.result, aborted]);
    } finally {
      signal?.removeEventListener('abort', abort);
      lookUp.waiting -= 1;
      // Nothing was found, or no caller waits any more.
      if (lookUp.waiting === 0 && lookUp.found === undefined) {
        if (lookUps.get(id) === lookUp) lookUps.delete(id);
        lookUp.abort.abort();
      }
    }
  };
}
