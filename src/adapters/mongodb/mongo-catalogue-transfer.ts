import { ObjectId, type AnyBulkWriteOperation } from 'mongodb';
import type { CatalogueTransfer } from '../../application/ports/catalogue-transfer.js';
import { claimId } from '../../application/ports/pet-repository.js';
import { toInt64 } from '../../domain/int64.js';
import { claimName, toClaim, type ClaimDocument } from './claim-document.js';
import type { MongoConnection } from './mongo-connection.js';
import { PRESENT, toPet, toPetDocument, type PetDocument } from './pet-document.js';
import type { PetInserts } from './pet-inserts.js';
import type { AttemptOptions } from './retry.js';

/** How long a batch may take, in milliseconds: an election must not end a copy. */
const timeout = 60_000;

/**
 * Moves all of a store in a MongoDB database. A claim whose animal is missing is not read: its create was interrupted
 * between the two, and never acknowledged.
 */
export function mongoTransfer(connection: MongoConnection, inserts: PetInserts): CatalogueTransfer {
  const pets = connection.collection<PetDocument>('pets');
  const claims = connection.collection<ClaimDocument>('claims');
  const marks = connection.collection<{ readonly _id: 'copy'; readonly isUnfinished: boolean }>('counters');

  /** The stored animals of these ids, by id. */
  async function findPets(
    ids: readonly bigint[],
    options: AttemptOptions,
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
        const isEmpty = (await pets.findOne(PRESENT, { ...options, projection: { _id: 1 } })) === null;
        return { pets: isEmpty ? 0 : Math.max(1, count), lastId };
      }),

    isUnfinished: (call) =>
      connection.run('reading the mark of a copy', { ...call }, async (options) => {
        const mark = await marks.findOne({ _id: 'copy' }, options);
        return mark?.isUnfinished === true;
      }),

    markUnfinished: (isUnfinished, call) =>
      connection.run('marking a copy', { ...call, timeout }, async (options) => {
        await marks.updateOne({ _id: 'copy' }, { $set: { isUnfinished } }, { ...options, upsert: true });
      }),

    reserveIds: (last, call) =>
      connection.run('reserving ids', { ...call, timeout }, (options) => inserts.reserve(last, options)),

    writePets(given, call) {
      const copies = given.map((pet) => {
        const { _id, operation, ...fields } = toPetDocument(pet.id, pet, new ObjectId());
        return { _id, operation, fields };
      });
      return connection.run('writing animals', { ...call, timeout }, async (options) => {
        if (copies.length === 0) return;
        const inserts = copies.map(({ _id, operation, fields }): AnyBulkWriteOperation<PetDocument> => {
          const update = { $setOnInsert: { ...fields, operation } };
          return { updateOne: { filter: { _id }, update, upsert: true } };
        });
        const { matchedCount } = await pets.bulkWrite(inserts, { ...options, ordered: false });
        if (matchedCount === 0) return;
        // What is left of a removed animal gives way, but keeps its operation: the retry of its create adds nothing.
        const replacements = copies.map(({ _id, fields }): AnyBulkWriteOperation<PetDocument> => {
          const filter = { _id, removedUntil: { $type: 'date' } } as const;
          return {
            updateOne: { filter, update: { $set: fields, $rename: { removedUntil: 'claimedUntil' } } },
          };
        });
        await pets.bulkWrite(replacements, { ...options, ordered: false });
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
        if (copies.length === 0) return;
        const stored = await findPets(
          copies.map(({ petId }) => petId),
          options,
        );
        // The claim has the operation of its animal, or honouring it would add another one.
        const linked = copies.map((copy) => {
          const found = stored.get(copy.petId);
          const pet = found?.removedUntil ? undefined : found; // an animal that is not stored was removed
          return Object.assign(copy, { pet, operation: found?.operation ?? new ObjectId() });
        });
        const until = linked.map(({ petId: _id, pet, operation, keepUntil }) => {
          const field = pet ? 'claimedUntil' : 'removedUntil';
          const update = { $max: { [field]: keepUntil }, $setOnInsert: { operation } };
          return { updateOne: { filter: { _id }, update, upsert: true } };
        });
        await pets.bulkWrite(until, { ...options, ordered: false });
        const replacements = linked.map(({ fingerprint, keepUntil, petId: _id, pet, operation, ...name }) => {
          const copy = pet ? toPetDocument(_id, toPet(pet), operation) : { _id, operation };
          const replacement = { fingerprint, keepUntil, pet: copy };
          return { replaceOne: { filter: { _id: claimId(name) }, replacement, upsert: true } };
        });
        await claims.bulkWrite(replacements, { ...options, ordered: false });
      });
    },
  };
}
