import type { PetRepository } from '../../application/ports/pet-repository.js';
import { claimId, replayOf } from '../../application/store-rules.js';
import { IdempotencyConflictError, UnavailableError } from '../../domain/errors.js';
import { fingerprintOf, petWithId, type Pet, type UnsavedPet } from '../../domain/pet.js';
import { READ_OPTIONS } from './mongo-client.js';
import type { MongoConnection, Work } from './mongo-connection.js';
import {
  filterOf,
  petCollection,
  statusFilter,
  toPet,
  type PetDocument,
  type StoredClaim,
} from './pet-document.js';
import type { PetIds } from './pet-ids.js';
import { retryableInsert } from './retryable-insert.js';

/** Animals in a MongoDB database. */
export function mongoPets({ database, read, write }: MongoConnection, ids: PetIds): PetRepository {
  const pets = petCollection(database);

  /**
   * Returns a function that adds an animal. Each try uses the same id, so a lost reply adds no second animal. Resolves
   * to `undefined` if another animal has the claim.
   */
  function adder(pet: UnsavedPet, claim?: StoredClaim): Work<Pet | undefined> {
    const { name, categoryId, status } = pet;
    // A stored claim never changes. Without one, equal fields mean ours.
    const isOwn = (stored: PetDocument): boolean =>
      claim
        ? stored.claim?.key === claim.key
        : !stored.claim && fingerprintOf(stored as UnsavedPet) === fingerprintOf(pet);
    const insert = retryableInsert(pets, isOwn);
    let id: bigint | undefined;

    return async (requirePending) => {
      id ??= await ids.take();
      requirePending();
      const outcome = await insert({ _id: id, name, categoryId, status, claim });
      if (outcome === 'stored') return petWithId(id, pet);
      if (outcome === 'claim.key taken') return undefined;
      const cause = new Error(
        `the new id ${id} is taken. If that recurs, the counter of ids is behind: restore the whole database.`,
      );
      throw new UnavailableError('adding an animal', { cause });
    };
  }

  return {
    // Without a claim, no other animal can have it: never `undefined`.
    add: (pet, options) => write('adding an animal', options, adder(pet) as Work<Pet>),

    addOnce(pet, claim, now, options) {
      const { fingerprint, keepUntil } = claim;
      const key = claimId(claim);
      const add = adder(pet, { key, fingerprint, keepUntil });
      return write('adding an animal', options, async (requirePending) => {
        const added = await add(requirePending);
        if (added) return { pet: added, replayed: false };
        const earlier = await pets.findOne({ 'claim.key': { $eq: key } }, READ_OPTIONS);
        if (earlier?.claim && earlier.claim.keepUntil > now)
          return replayOf({ ...earlier.claim, petId: earlier._id }, pet, claim);
        if (earlier) await pets.updateOne({ _id: { $eq: earlier._id } }, { $unset: { claim: 1 } });
        // The claim is free now, or no majority has its animal yet: `write` retries.
        throw new IdempotencyConflictError();
      });
    },

    findById: (id, options) =>
      read('reading an animal', options, async () => {
        const found = await pets.findOne(filterOf(id), READ_OPTIONS);
        return found ? toPet(found) : undefined;
      }),

    list: ({ after = 0n, limit, status }, options) =>
      read('listing animals', options, async () => {
        const filter = { _id: { $gt: after }, status: statusFilter(status) };
        const cursor = pets.find(filter, READ_OPTIONS).sort({ _id: 1 }).limit(limit);
        return (await cursor.toArray()).map(toPet);
      }),
  };
}
