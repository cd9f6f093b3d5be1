import { timingSafeEqual } from 'node:crypto';
import type { Call } from '../../application/animal-store.js';
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

/** Finds the key with this id. Resolves to `undefined` if there is none, or if its hash is another. Pass no aborted signal. */
export type FindKey = (id: string, hash: string, call?: Call) => Promise<ApiKeyRecord | undefined>;

/**
 * Caches the keys that were found for 500 ms from the start of the look-up, so that a busy key costs two look-ups
 * a second instead of one a request. Overlapping calls share a look-up. Failures are not cached, and neither is what
 * was not found.
 *
 * The cache is by hash, and only the whole key has that hash. By id it would reveal which ids exist: a guess with
 * a known id would be fast, while its owner uses it or the second time, and a guess with an unknown id slow.
 */
export function cachedFindKey(apiKeys: Pick<ApiKeyRepository, 'findById'>): FindKey {
  /** By hash, the oldest look-up first. */
  const lookUps = new Map<string, LookUp>();

  const begin = (id: string, hash: string): LookUp => {
    const [begun, abort] = [performance.now(), new AbortController()];
    const result = apiKeys.findById(id, abort).then((found) => {
      // Compared in any case, so that the response time does not reveal which ids exist.
      const matches = isEqual(hash, found?.hash ?? '0'.repeat(64));
      return (lookUp.found = matches ? found : undefined);
    });
    const lookUp: LookUp = { begun, abort, result, waiting: 0, found: undefined };
    lookUps.delete(hash);
    const [oldest] = lookUps.keys();
    if (oldest !== undefined && lookUps.size >= CAPACITY) lookUps.delete(oldest);
    lookUps.set(hash, lookUp);
    return lookUp;
  };

  return async (id, hash, { signal } = {}) => {
    const earlier = lookUps.get(hash);
    // Counted from the start of the look-up: the store may have read the key right then.
    const isFresh = earlier !== undefined && performance.now() - earlier.begun < LIFETIME;
    if (isFresh && earlier.found) return earlier.found; // most calls: nothing to wait for
    const lookUp = isFresh ? earlier : begin(id, hash);
    lookUp.waiting += 1;
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    try {
      return await Promise.race([lookUp.result, aborted]);
    } finally {
      signal?.removeEventListener('abort', abort);
      lookUp.waiting -= 1;
      // Nothing was found, or no caller waits any more.
      if (lookUp.waiting === 0 && lookUp.found === undefined) {
        if (lookUps.get(hash) === lookUp) lookUps.delete(hash);
        lookUp.abort.abort();
      }
    }
  };
}

/** Compares in constant time. */
export const isEqual = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one, 'latin1'), Buffer.from(other, 'latin1'));
