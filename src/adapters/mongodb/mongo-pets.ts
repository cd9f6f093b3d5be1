import { claimId, replayOf, type PetRepository } from '../../application/ports/pet-repository.js';
import { IdempotencyConflictError, UnavailableError } from '../../domain/errors.js';
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
import { tryToInsert, type InsertTries } from './try-to-insert.js';

/** What the tries of one add share: all insert the same id. */
interface AddTries extends InsertTries {
  id?: bigint;
}

/** Animals in a MongoDB database. */
export function mongoPets({ database, read, write }: MongoConnection, ids: PetIds): PetRepository {
  const pets = petCollection(database);

  /** One try to insert an animal. Resolves to `undefined` if another animal has the claim. */
  async function tryToAdd(
    tries: AddTries,
    pet: UnsavedPet,
    claim?: StoredClaim,
  ): Promise<Pet | undefined> {
    tries.id ??= await ids.take();
    const { name, categoryId, status } = pet;
    const document = { _id: tries.id, name, categoryId, status, claim };
    // No change touches a claim. Without one, the fields must be equal.
    const isOwn = (stored: PetDocument): boolean =>
      claim
        ? stored.claim?.key === claim.key
        : !stored.claim && fingerprintOf(stored) === fingerprintOf(pet);
    const result = await tryToInsert(pets, document, tries, isOwn);
    if (result === 'stored') return petWithId(tries.id, pet);
    if (result === 'claim.key') return undefined;
    const cause = new Error(
      `the new id ${tries.id} is taken. If that recurs, the counter of ids is behind: restore the whole database.`,
    );
    throw new UnavailableError('adding an animal', { cause });
  }

  return {
    async add(pet, options) {
      const tries: AddTries = {};
      const added = await write('adding an animal', options, () => tryToAdd(tries, pet));
      return added as Pet; // without a claim, no other animal has it
    },

    addOnce(pet, claim, now, options) {
      const { fingerprint, keepUntil } = claim;
      const key = claimId(claim);
      const tries: AddTries = {};
      return write('adding an animal', options, async () => {
        const added = await tryToAdd(tries, pet, { key, fingerprint, keepUntil });
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
