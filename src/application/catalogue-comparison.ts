import type { Pet } from '../domain/pet.js';
import { CopyError } from './copy-error.js';
import type { ApiKeyRecord } from './ports/api-key-repository.js';

type Batches = AsyncIterable<readonly Pet[]>;

/**
 * Makes sure that every animal of the target is one of the source, the same in all it has. Resolves to the id up
 * to which none is missing in the target.
 * @param told called with the number of animals of the target in each batch that was compared
 * @throws {CopyError} target_differs
 */
export async function findCopiedUpTo(
  source: Batches,
  target: Batches,
  told: (count: number) => void,
): Promise<bigint> {
  const originals = eachOf(source);
  let copiedUpTo = 0n;
  let complete = true;
  for await (const batch of target) {
    for (const pet of batch) {
      let original = await originals.next();
      while (!original.done && original.value.id < pet.id) {
        complete = false;
        original = await originals.next();
      }
      if (original.done || !isSame(original.value, pet)) {
        throw new CopyError('target_differs', `animal ${pet.id}`);
      }
      if (complete) copiedUpTo = pet.id;
    }
    told(batch.length);
  }
  return copiedUpTo;
}

/**
 * Makes sure that every key of the target is one of the source, and was revoked there too: a copy must never
 * make a key good again.
 * @throws {CopyError} target_differs
 */
export function assertKeysOf(source: readonly ApiKeyRecord[], target: readonly ApiKeyRecord[]): void {
  const originals = new Map(source.map((key) => [key.id, key]));
  for (const key of target) {
    const original = originals.get(key.id);
    if (original?.hash !== key.hash || (key.revokedAt && !original.revokedAt))
      throw new CopyError('target_differs', `API key ${key.id}`);
  }
}

/** Whether both hold the same keys, the same in all they have. */
export const areSameKeys = (some: readonly ApiKeyRecord[], others: readonly ApiKeyRecord[]): boolean =>
  JSON.stringify(some.map(inOrder)) === JSON.stringify(others.map(inOrder));

async function* eachOf(batches: Batches): AsyncGenerator<Pet> {
  for await (const batch of batches) yield* batch;
}

const isSame = (one: Pet, other: Pet): boolean =>
  one.id === other.id &&
  one.name === other.name &&
  one.categoryId === other.categoryId &&
  one.status === other.status;

/** All that a key has, in one order for the keys of every store. */
const inOrder = ({ id, name, hash, scopes, createdAt, expiresAt, revokedAt, replacedBy }: ApiKeyRecord) => [
  id,
  name,
  hash,
  scopes,
  createdAt,
  expiresAt,
  revokedAt,
  replacedBy,
];
