import { ObjectId } from 'mongodb';
import type { CatalogueTransfer, PetClaim } from '../../application/ports/catalogue-transfer.js';
import { claimId } from '../../application/ports/pet-repository.js';
import { toInt64 } from '../../domain/int64.js';
import type { MongoConnection } from './mongo-connection.js';
import { PRESENT, toClaim, type ClaimDocument, type PetDocument } from './pet-document.js';
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
  const marks = connection.collection<{ readonly _id: 'copy'; readonly isUnfinished: boolean }>(
    'counters',
  );

  /** The stored animals of these ids, by id. */
  async function findPets(
    ids: readonly bigint[],
    options: AttemptOptions,
  ): Promise<Map<bigint | undefined, PetDocument>> {
    const found = await pets.find({ _id: { $in: ids } }, options).toArray();
    return new Map(found.map((pet) => [toInt64(pet._id), pet]));
  }

  /** Ends the claims of removed animals. Each one by its `_id`: only such writes are retryable. */
  async function endClaims(ids: readonly bigint[], options: AttemptOptions): Promise<void> {
    if (ids.length === 0) return;
    const range = { ...options, projection: { _id: 1 } };
    const ended = await claims.find({ 'pet._id': { $in: ids } }, range).toArray();
    if (ended.length === 0) return;
    const $set = { keepUntil: new Date(0) };
    const updates = ended.map(({ _id }) => ({ updateOne: { filter: { _id }, update: { $set } } }));
    await claims.bulkWrite(updates, { ...options, ordered: false });
  }

  return {
    survey: (call) =>
      connection.run('surveying the store', { ...call }, async (options) => {
        const lastId = await inserts.lastId(options);
        // From the metadata of the collection, which is not exact.
        const count = await pets.estimatedDocumentCount(options);
        const isEmpty =
          (await pets.findOne(PRESENT, { ...options, projection: { _id: 1 } })) === null;
        return { pets: isEmpty ? 0 : Math.max(1, count), lastId };
      }),

    isUnfinished: (call) =>
      connection.run('reading the mark of a copy', { ...call }, async (options) => {
        const mark = await marks.findOne({ _id: 'copy' }, options);
        return mark?.isUnfinished === true;
      }),

    markUnfinished: (isUnfinished, call) =>
      connection.write('marking a copy', { ...call, timeout }, async (options) => {
        await marks.updateOne(
          { _id: 'copy' },
          { $set: { isUnfinished } },
          { ...options, upsert: true },
        );
      }),

    reserveIds: (last, call) =>
      connection.write('reserving ids', { ...call, timeout }, (options) =>
        inserts.reserve(last, options),
      ),

    writePets: (given, call) =>
      connection.write('writing animals', { ...call, timeout }, async (options) => {
        if (given.length === 0) return;
        const ids = given.map(({ id }) => id);
        const stored = await findPets(ids, options);
        await endClaims(
          ids.filter((id) => stored.get(id)?.removedUntil !== undefined),
          options,
        );
        const inserts = given.map(({ id, ...fields }) =>
          upsert(id, { $setOnInsert: { ...fields, operation: new ObjectId() } }),
        );
        const { matchedCount } = await pets.bulkWrite(inserts, { ...options, ordered: false });
        if (matchedCount === 0) return;
        // What is left of a removed animal gives way.
        const replacements = given.map(({ id: _id, ...fields }) => {
          const filter = { _id, removedUntil: { $type: 'date' } } as const;
          const $set = { ...fields, operation: new ObjectId() };
          return {
            updateOne: { filter, update: { $set, $unset: { removedUntil: true as const } } },
          };
        });
        await pets.bulkWrite(replacements, { ...options, ordered: false });
      }),

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
          const kept = found.filter(({ pet }) =>
            pet.operation.equals(stored.get(pet._id)?.operation),
          );
          const last = found.at(-1);
          // An empty batch ends the claims, so one without animals is passed over.
          if (kept.length > 0 || last === undefined) return kept.map(toPetClaim);
          start = last._id;
        }
      });
    },

    writeClaims: (given, call) =>
      connection.write('writing claims', { ...call, timeout }, async (options) => {
        if (given.length === 0) return;
        const ids = given.map(({ petId }) => petId);
        const stored = await findPets(ids, options);
        // The claim has the operation of its animal, or honouring it would add another one.
        const linked = given.map((claim) => {
          const pet = stored.get(claim.petId);
          const keepUntil = new Date(claim.keepUntil);
          return { ...claim, keepUntil, pet, operation: pet?.operation ?? new ObjectId() };
        });
        const marks = linked.map(({ petId, pet, operation, keepUntil }) => {
          const field = pet && !pet.removedUntil ? 'claimedUntil' : 'removedUntil'; // not stored: it was removed
          return upsert(petId, { $max: { [field]: keepUntil }, $setOnInsert: { operation } });
        });
        await pets.bulkWrite(marks, { ...options, ordered: false });
        const written = linked.map(({ fingerprint, keepUntil, petId, operation, ...claim }) =>
          upsert(claimId(claim), {
            $set: { fingerprint, keepUntil, pet: { _id: petId, operation } },
          }),
        );
        await claims.bulkWrite(written, { ...options, ordered: false });
      }),
  };
}

const upsert = <Id, Update>(_id: Id, update: Update) => ({
  updateOne: { filter: { _id }, update, upsert: true },
});

function toPetClaim({ _id, fingerprint, keepUntil, pet }: ClaimDocument): PetClaim {
  // The reverse of `claimId`.
  const [scope, key] = JSON.parse(_id) as [string, string];
  return { scope, key, fingerprint, keepUntil: keepUntil.getTime(), petId: pet._id };
}
