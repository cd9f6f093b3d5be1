import { ObjectId, type AnyBulkWriteOperation } from 'mongodb';
import type { CatalogueTransfer } from '../../application/ports/catalogue-transfer.js';
import { UnavailableError } from '../../domain/errors.js';
import { toInt64 } from '../../domain/int64.js';
import { claimId, claimName, toClaim, type ClaimDocument } from './claim-document.js';
import type { MongoConnection } from './mongo-connection.js';
import { toPet, toPetDocument, type PetDocument } from './pet-document.js';
import type { PetInserts } from './pet-inserts.js';
import type { Attempt } from './retry.js';

/** How long a batch may take, in milliseconds: an election must not end a copy. */
const timeout = 60_000;

/**
 * Moves all of a store in a MongoDB database. A claim whose animal is missing is not read: its create was interrupted
 * between the two, and never acknowledged.
 */
export function mongoTransfer(connection: MongoConnection, inserts: PetInserts): CatalogueTransfer {
  const pets = connection.collection<PetDocument>('pets');
  const claims = connection.collection<ClaimDocument>('claims');

  /** The stored animals of these ids, by id. */
  async function findPets(
    ids: readonly bigint[],
    options: Attempt,
  ): Promise<Map<bigint | undefined, PetDocument>> {
    const found = await pets.find({ _id: { $in: ids } }, options).toArray();
    return new Map(found.map((pet) => [toInt64(pet._id), pet]));
  }

  return {
    survey: (call) =>
      connection.run('surveying the store', { ...call, timeout }, async (options) => {
        const lastId = await inserts.lastId(options);
        // From the metadata of the collection, which is not exact.
        const count = await pets.estimatedDocumentCount(options);
        const isEmpty = (await pets.findOne({}, { ...options, projection: { _id: 1 } })) === null;
        return { pets: isEmpty ? 0 : Math.max(1, count), lastId };
      }),

    reserveIds: (last, call) =>
      connection.run('reserving ids', { ...call, timeout }, (options) => inserts.reserve(last, options)),

    writePets(given, call) {
      const operations = given.map((pet): AnyBulkWriteOperation<PetDocument> => {
        const { _id, ...fields } = toPetDocument(pet.id, pet, new ObjectId());
        return { updateOne: { filter: { _id }, update: { $setOnInsert: fields }, upsert: true } };
      });
      return connection.run('writing animals', { ...call, timeout }, async (options) => {
        if (operations.length > 0) await pets.bulkWrite(operations, { ...options, ordered: false });
      });
    },

    readClaims({ after, limit, now }, call) {
      const live = { $gt: new Date(now) };
      return connection.run('reading claims', { ...call, timeout }, async (options) => {
        for (let start = after === undefined ? '' : claimId(after); ;) {
          const found = await claims
            .find({ _id: { $gt: start }, keepUntil: live }, { ...options, sort: { _id: 1 }, limit })
            .map(toClaim)
            .toArray();
          const ids = found.map(({ pet }) => pet._id);
          const stored = await findPets(ids, options);
          const kept = found
            .filter(({ pet }) => pet.operation.equals(stored.get(pet._id)?.operation))
            .map(({ _id, fingerprint, keepUntil, pet }) =>
              Object.assign(claimName(_id), { fingerprint, petId: pet._id, keepUntil }),
            );
          const last = found.at(-1);
          // An empty batch ends the claims, so one without animals is passed over.
          if (kept.length > 0 || last === undefined) return kept;
          start = last._id;
        }
      });
    },

    writeClaims(given, call) {
      const copies = given.map((claim) => ({ ...claim, keepUntil: new Date(claim.keepUntil) }));
      return connection.run('writing claims', { ...call, timeout }, async (options) => {
        const ids = copies.map(({ petId }) => petId);
        const stored = await findPets(ids, options);
        const operations = copies.map(({ fingerprint, keepUntil, petId, ...name }) => {
          const found = stored.get(petId);
          if (found === undefined) {
            const cause = new Error(`the animal ${petId} of a claim is not stored`);
            throw new UnavailableError('writing claims', { cause });
          }
          // The claim has the operation of its animal, or honouring it would add another one.
          const pet = toPetDocument(petId, toPet(found), found.operation);
          const replacement = { fingerprint, keepUntil, pet };
          return { replaceOne: { filter: { _id: claimId(name) }, replacement, upsert: true } };
        });
        if (operations.length > 0) await claims.bulkWrite(operations, { ...options, ordered: false });
      });
    },
  };
}
