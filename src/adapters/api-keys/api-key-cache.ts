import { timingSafeEqual } from 'node:crypto';
import type { ApiKeyRecord, ApiKeyRepository } from '../../application/ports/api-key-repository.js';

/** How long a look-up may be used from its start, in milliseconds. */
const LIFETIME = 500;

/** The largest number of cached look-ups. */
const CAPACITY = 1000;

/** Finds the key with this id. Resolves to `undefined` if there is none, or if its hash is another. */
export type FindKey = (id: string, hash: string) => Promise<ApiKeyRecord | undefined>;

interface LookUp {
  /** By `performance.now()`. */
  readonly begun: number;
  readonly result: ReturnType<FindKey>;
}

/**
 * Looks a key up at most twice a second: calls share a look-up for 500 ms from its start. Only found keys are cached
 * beyond their look-up.
 *
 * Look-ups are cached by hash, which only the whole key has. By id, a guess would be fast where the id exists and its
 * owner uses the key, and so reveal which ids exist.
 */
export function cachedFindKey(apiKeys: Pick<ApiKeyRepository, 'findById'>): FindKey {
  /** By hash. A full one is emptied: no entry would live longer than half a second anyway. */
  const lookUps = new Map<string, LookUp>();

  const find: FindKey = async (id, hash) => {
    const found = await apiKeys.findById(id);
    // Compared in any case, so that the response time does not reveal which ids exist.
    return isEqual(hash, found?.hash ?? '0'.repeat(64)) ? found : undefined;
  };

  async function forgetUnlessFound(hash: string, lookUp: LookUp): Promise<void> {
    try {
      if (await lookUp.result) return;
    } catch {
      // The callers get the error.
    }
    if (lookUps.get(hash) === lookUp) lookUps.delete(hash);
  }

  return (id, hash) => {
    const earlier = lookUps.get(hash);
    // Not from its end: the store may have read the key right at its start.
    if (earlier && performance.now() - earlier.begun < LIFETIME) return earlier.result;
    const lookUp = { begun: performance.now(), result: find(id, hash) };
    if (lookUps.size >= CAPACITY) lookUps.clear();
    lookUps.set(hash, lookUp);
    void forgetUnlessFound(hash, lookUp);
    return lookUp.result;
  };
}

/** Compares in constant time. */
const isEqual = (one: string, other: string): boolean =>
  one.length === other.length &&
  timingSafeEqual(Buffer.from(one, 'latin1'), Buffer.from(other, 'latin1'));
