import { ObjectId } from 'mongodb';
import { claimId, type PetRepository } from '../../application/ports/pet-repository.js';
import { IdempotencyKeyReusedError } from '../../domain/errors.js';
import { petWithId } from '../../domain/pet.js';
import type { MongoConnection } from './mongo-connection.js';
import { LostRaceError } from './mongo-errors.js';
import { readableClaim, toPetDocument, type ClaimDocument } from './pet-document.js';
import type { PetInserts } from './pet-inserts.js';
import { insertOrFind, type AttemptOptions } from './retry.js';

/** Whether one call made both claims, perhaps in an attempt whose reply was lost. */
const areOfOneCall = (one: ClaimDocument, other: ClaimDocument): boolean =>
  one.pet.operation.equals(other.pet.operation);

/**
 * Adds an animal at most once for an idempotency key. The claim and the animal are two documents. No transaction joins
 * them: each write changes one document, found by its `_id`. So only `_id` needs a unique index.
 *
 * 1. Store the claim. It names the id and the operation of its animal. Of several calls, the stored claim decides.
 * 2. Insert the animal that the claim names. A retry brings the same animal, so any call can do that for another.
 * 3. If another animal has that id, give the claim another id. Then start again.
 *
 * A process can die at four points, and a retry finishes the rest:
 *
 * - before 1: nothing is stored. The retry is the first call.
 * - before 2: the claim is stored without its animal. The retry finds the claim, and inserts the animal.
 * - before 3: the same. The retry also finds that the id is taken, and goes on with 3.
 * - after 2, before the reply: the retry finds the claim, and its animal by the operation. It stores nothing.
 *
 * A removed animal leaves a document under its `_id`, so that a retry does not store it again. If somebody deletes an
 * animal by hand, a retry restores it.
 */
export function mongoClaims(
  connection: MongoConnection,
  inserts: PetInserts,
): NonNullable<PetRepository['addOnce']> {
  const claims = connection.collection<ClaimDocument>('claims');

  /** Step 1: stores the claim, unless a valid one is stored. Resolves to the one that is stored then. */
  async function storeOrFind(mine: ClaimDocument, now: number, options: AttemptOptions) {
    const stored = readableClaim(await insertOrFind(claims, mine, options));
    if (areOfOneCall(stored, mine) || stored.keepUntil.getTime() > now) return stored;
    const expired = {
      _id: mine._id,
      'pet.operation': stored.pet.operation,
    };
    const { matchedCount } = await claims.replaceOne(expired, mine, options);
    if (matchedCount === 1) return mine;
    // Not read here: the majority may still have the expired one.
    throw new LostRaceError('another call has replaced the expired claim');
  }

  /** Step 3. The first of several calls decides on the id. */
  async function changeId({ _id, pet }: ClaimDocument, options: AttemptOptions) {
    const id = await inserts.nextId(options);
    const unchanged = {
      _id,
      'pet._id': pet._id,
      'pet.operation': pet.operation,
    };
    await claims.updateOne(unchanged, { $set: { 'pet._id': id } }, options);
  }

  return async (pet, claim, now, call) => {
    const { fingerprint } = claim;
    const operation = new ObjectId();
    return connection.write('adding an animal', call, async (options) => {
      const mine = {
        _id: claimId(claim),
        fingerprint,
        keepUntil: new Date(claim.keepUntil),
        pet: {
          _id: await inserts.nextId(options),
          operation,
        },
      };
      const stored = await storeOrFind(mine, now, options);
      if (stored.fingerprint !== fingerprint) throw new IdempotencyKeyReusedError();

      const { _id: id, operation: storedOperation } = stored.pet;
      const document = {
        ...toPetDocument(id, pet, storedOperation),
        claimedUntil: stored.keepUntil,
      };
      const isStored = await inserts.insert(document, options);
      if (!isStored) {
        await changeId(stored, options);
        throw new LostRaceError(`another animal has the id ${id}`);
      }
      return {
        pet: petWithId(id, pet),
        replayed: !areOfOneCall(stored, mine),
      };
    });
  };
}
