import { ObjectId } from 'mongodb';
import type { CreatedPet } from '../../application/animal-store.js';
import {
  claimId,
  type Claim,
  type NothingElse,
  type PetRepository,
} from '../../application/ports/pet-repository.js';
import type { Complete } from '../../application/ports/store.js';
import { IdempotencyKeyReusedError } from '../../domain/errors.js';
import { petWithId, type Pet, type UnsavedPet } from '../../domain/pet.js';
import type { MongoConnection } from './mongo-connection.js';
import {
  PET_PROJECTION,
  PRESENT,
  toClaim,
  toPet,
  toPetDocument,
  type ClaimDocument,
  type PetDocument,
} from './pet-document.js';
import type { PetInserts } from './pet-inserts.js';
import { LostRaceError } from './mongo-errors.js';
import { insertOrFind, type AttemptOptions } from './retry.js';

type AddAttempt<Result> = (options: AttemptOptions) => Promise<Result>;

/** Animals in a MongoDB database, shared by any number of processes and machines. */
export function mongoPets(
  connection: MongoConnection,
  inserts: PetInserts,
): Complete<PetRepository> {
  const pets = connection.collection<PetDocument>('pets');
  const claims = connection.collection<ClaimDocument>('claims');

  function addNew(pet: UnsavedPet, operation: ObjectId): AddAttempt<Pet> {
    let given: bigint | undefined;
    return async (options) => {
      const id = (given ??= await inserts.nextId(options));
      if (await inserts.insert(toPetDocument(id, pet, operation), options))
        return petWithId(id, pet);
      given = undefined;
      throw new LostRaceError(`another animal has the id ${id}`);
    };
  }

  /**
   * Writes the claim first, with the animal's id and operation, then the animal. A retry brings the same animal, so it
   * can finish what an interrupted call did not, and no other animal can result. So every write changes one document,
   * and only `_id` needs a unique index. A removed animal leaves a document under its `_id`, which keeps a retry
   * from storing it again. If somebody deletes an animal by hand, a retry restores it.
   */
  function addOnce(
    pet: UnsavedPet,
    claim: Claim,
    now: number,
    operation: ObjectId,
  ): AddAttempt<CreatedPet> {
    const { fingerprint } = claim;
    const [_id, keepUntil] = [claimId(claim), new Date(claim.keepUntil)];
    let mine: ClaimDocument | undefined;
    return async (options) => {
      mine ??= {
        _id,
        fingerprint,
        keepUntil,
        pet: { _id: await inserts.nextId(options), operation },
      };
      const valid = await settleClaim(mine, now, options);
      if (valid.fingerprint !== fingerprint) throw new IdempotencyKeyReusedError();
      const { _id: id, operation: first } = valid.pet;
      const document = { ...toPetDocument(id, pet, first), claimedUntil: valid.keepUntil };
      if (await inserts.insert(document, options))
        return { pet: petWithId(id, pet), replayed: !first.equals(operation) };
      // The first of several calls gives the claim another id.
      const renamed = { $set: { 'pet._id': await inserts.nextId(options) } };
      await claims.updateOne({ _id, 'pet._id': id, 'pet.operation': first }, renamed, options);
      throw new LostRaceError(`another animal has the id ${id}`);
    };
  }

  /** Resolves to the claim that is valid: this one, or an earlier one that has not lapsed. */
  async function settleClaim(mine: ClaimDocument, now: number, options: AttemptOptions) {
    const found = await insertOrFind(claims, mine, options);
    if (found === mine) return mine;
    const earlier = toClaim(found);
    if (earlier.keepUntil.getTime() > now || earlier.pet.operation.equals(mine.pet.operation))
      return earlier;
    const lapsed = { _id: mine._id, 'pet.operation': earlier.pet.operation };
    const { matchedCount } = await claims.replaceOne(lapsed, mine, options);
    if (matchedCount === 1) return mine;
    // Not read here: the majority may still have the lapsed one.
    throw new LostRaceError('another call has made the lapsed claim again');
  }

  return {
    add: (pet, call = {}) =>
      connection.write('adding an animal', call, addNew(pet, new ObjectId())),

    addOnce: (pet, claim, now, call = {}) =>
      connection.write('adding an animal', call, addOnce(pet, claim, now, new ObjectId())),

    findById: (id, { signal } = {}) =>
      connection.run('reading an animal', { signal }, async (options) => {
        const projection = { ...PET_PROJECTION, removedUntil: 1 };
        const found = await pets.findOne({ _id: { $eq: id } }, { ...options, projection });
        return found === null || found.removedUntil ? undefined : toPet(found);
      }),

    list({ after = 0n, limit, status, ...others }, { signal } = {}) {
      void (others satisfies NothingElse);
      return connection.run('listing animals', { signal }, async (options) => {
        // With `$eq` a status is always a value, never an operator.
        const wanted = status === undefined ? PRESENT : { status: { $eq: status } };
        const range = { ...options, projection: PET_PROJECTION, sort: { _id: 1 }, limit } as const;
        const found = await pets.find({ _id: { $gt: after }, ...wanted }, range).toArray();
        return found.map((document) => toPet(document));
      });
    },
  };
}
