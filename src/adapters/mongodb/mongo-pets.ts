import type { CreatedPet } from '../../application/animal-store.js';
import type { CallOptions } from '../../application/call-options.js';
import { claimId, type PetRepository } from '../../application/ports/pet-repository.js';
import {
  IdempotencyConflictError,
  IdempotencyKeyReusedError,
  UnavailableError,
} from '../../domain/errors.js';
import { fingerprintOf, petWithId, type UnsavedPet } from '../../domain/pet.js';
import type { MongoConnection } from './mongo-connection.js';
import { READ_OPTIONS } from './mongo-database.js';
import {
  petCollection,
  present,
  toPet,
  type PetDocument,
  type StoredClaim,
} from './pet-document.js';
import type { PetIds } from './pet-ids.js';
import { retryableInsert } from './retryable-insert.js';

/** Animals in a MongoDB database. */
export function mongoPets({ database, read, write }: MongoConnection, ids: PetIds): PetRepository {
  const pets = petCollection(database);

  async function create(
    pet: UnsavedPet,
    options: CallOptions | undefined,
    claim?: StoredClaim,
    now = 0,
  ): Promise<CreatedPet> {
    let id: bigint | undefined; // every try inserts the same id
    // Whether an earlier try has stored this: no change touches a claim; without one, the fields must be equal.
    const isOwn = (stored: PetDocument): boolean =>
      claim
        ? stored.claim?.key === claim.key
        : !stored.claim && fingerprintOf(stored) === fingerprintOf(pet);
    const insert = retryableInsert(pets, isOwn);
    return write('adding an animal', options, async () => {
      id ??= await ids.take();
      const added = petWithId(id, pet);
      const { id: _id, ...fields } = added;
      const taken = await insert({ _id, ...fields, claim });
      if (taken === undefined) return { pet: added, replayed: false };
      if (taken === 'claim.key' && claim) return replayOrFree(pet, claim, now);
      const cause = new Error(
        `the new id ${id} is taken. If that recurs, the counter of ids is behind: restore the whole database.`,
      );
      throw new UnavailableError('adding an animal', { cause });
    });
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
      const created = await create(pet, options);
      return created.pet;
    },

    addOnce(pet, { fingerprint, keepUntil, ...scopeAndKey }, now, options) {
      const claim = { key: claimId(scopeAndKey), fingerprint, keepUntil };
      return create(pet, options, claim, now);
    },

    findById: (id, options) =>
      read('reading an animal', options, async () => {
        const filter = { _id: { $eq: id }, status: present() };
        const found = await pets.findOne(filter, READ_OPTIONS);
        return found ? toPet(found) : undefined;
      }),

    list: ({ after = 0n, limit, status }, options) =>
      read('listing animals', options, async () => {
        const filter = { _id: { $gt: after }, status: present(status) };
        const found = pets.find(filter, READ_OPTIONS).sort({ _id: 1 }).limit(limit);
        return (await found.toArray()).map(toPet);
      }),
  };
}
