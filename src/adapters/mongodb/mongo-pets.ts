import type { CreatedPet } from '../../application/animal-store.js';
import { claimId, type PetRepository } from '../../application/ports/pet-repository.js';
import {
  IdempotencyConflictError,
  IdempotencyKeyReusedError,
  UnavailableError,
} from '../../domain/errors.js';
import { fingerprintOf, petWithId, type Pet, type UnsavedPet } from '../../domain/pet.js';
import { READ_OPTIONS } from './mongo-client.js';
import type { MongoConnection } from './mongo-connection.js';
import {
  ANY_STATUS,
  matching,
  petCollection,
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
   * Returns an insert of this animal that is safe to retry. It resolves to `undefined` if another animal has the claim.
   */
  function inserting(pet: UnsavedPet, claim?: StoredClaim): () => Promise<Pet | undefined> {
    let id: bigint | undefined; // every try inserts the same id
    // Whether an earlier try has stored this: no change touches a claim; without one, the fields must be equal.
    const isOwn = (stored: PetDocument): boolean =>
      claim
        ? stored.claim?.key === claim.key
        : !stored.claim && fingerprintOf(stored) === fingerprintOf(pet);
    const insert = retryableInsert(pets, isOwn);
    return async () => {
      id ??= await ids.take();
      const { name, categoryId, status } = pet;
      const taken = await insert({ _id: id, name, categoryId, status, claim });
      if (taken === undefined) return petWithId(id, pet);
      if (taken === 'claim.key') return undefined;
      const cause = new Error(
        `the new id ${id} is taken. If that recurs, the counter of ids is behind: restore the whole database.`,
      );
      throw new UnavailableError('adding an animal', { cause });
    };
  }

  /**
   * Replays the create that holds the claim, or unsets the claim if it has expired.
   * @throws {IdempotencyConflictError} the claim is free now, or no majority has its animal yet: `write` retries
   */
  async function replayOrFree(
    pet: UnsavedPet,
    { key, fingerprint }: StoredClaim,
    now: number,
  ): Promise<CreatedPet> {
    const earlier = await pets.findOne({ 'claim.key': { $eq: key } }, READ_OPTIONS);
    if (!earlier?.claim) throw new IdempotencyConflictError();
    const { _id, claim } = earlier;
    if (claim.keepUntil > now) {
      if (claim.fingerprint !== fingerprint) throw new IdempotencyKeyReusedError();
      return { pet: petWithId(_id, pet), replayed: true };
    }
    await pets.updateOne({ _id: { $eq: _id } }, { $unset: { claim: 1 } });
    throw new IdempotencyConflictError();
  }

  return {
    async add(pet, options) {
      const added = await write('adding an animal', options, inserting(pet));
      return added as Pet; // without a claim, no other animal has it
    },

    addOnce(pet, { fingerprint, keepUntil, ...scopeAndKey }, now, options) {
      const claim = { key: claimId(scopeAndKey), fingerprint, keepUntil };
      const insert = inserting(pet, claim);
      return write('adding an animal', options, async () => {
        const added = await insert();
        return added ? { pet: added, replayed: false } : replayOrFree(pet, claim, now);
      });
    },

    findById: (id, options) =>
      read('reading an animal', options, async () => {
        const filter = { _id: { $eq: id }, status: ANY_STATUS };
        const found = await pets.findOne(filter, READ_OPTIONS);
        return found ? toPet(found) : undefined;
      }),

    list: ({ after = 0n, limit, status }, options) =>
      read('listing animals', options, async () => {
        const filter = { _id: { $gt: after }, status: matching(status) };
        const found = pets.find(filter, READ_OPTIONS).sort({ _id: 1 }).limit(limit);
        return (await found.toArray()).map(toPet);
      }),
  };
}
