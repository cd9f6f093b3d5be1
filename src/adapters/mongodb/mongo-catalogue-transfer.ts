import { ObjectId, type AnyBulkWriteOperation, type Collection, type Document } from 'mongodb';
import type { CatalogueTransfer } from '../../application/ports/catalogue-transfer.js';
import { claimId } from '../../application/ports/pet-repository.js';
import { toInt64 } from '../../domain/int64.js';
import type { MongoConnection } from './mongo-connection.js';
import {
  PRESENT,
  readableClaim,
  toPetDocument,
  type ClaimDocument,
  type PetDocument,
} from './pet-document.js';
import type { PetInserts } from './pet-inserts.js';
import type { AttemptOptions } from './retry.js';

/** How long a batch may take, in milliseconds: an election must not end a copy. */
const BATCH_TIMEOUT = 60_000;

/** What is stored of an animal, which may be removed. */
type StoredPet = Pick<PetDocument, 'operation' | 'removedUntil'>;

/**
 * Moves all of a store in a MongoDB database. A claim whose animal is missing is not read: its create was interrupted
 * between the two, and never acknowledged.
 */
export function mongoTransfer(connection: MongoConnection, inserts: PetInserts): CatalogueTransfer {
  const pets = connection.collection<PetDocument>('pets');
  const claims = connection.collection<ClaimDocument>('claims');
  const marks = connection.collection<{ _id: 'copy'; isUnfinished: boolean }>('counters');

  /** What is stored under these ids, by id. */
  async function findStored(ids: readonly bigint[], options: AttemptOptions) {
    const stored = new Map<bigint | undefined, StoredPet>();
    const found = await pets.find({ _id: { $in: ids } }, options).toArray();
    for (const pet of found) stored.set(toInt64(pet._id), pet);
    return stored;
  }

  return {
    survey: (call) =>
      connection.run('surveying the store', call, async (options) => {
        const lastId = await inserts.lastId(options);
        // From the metadata of the collection: fast, but not exact.
        const count = await pets.estimatedDocumentCount(options);
        const first = await pets.findOne(PRESENT, {
          ...options,
          projection: { _id: 1 },
        });
        return {
          pets: first === null ? 0 : Math.max(1, count),
          lastId,
        };
      }),

    isUnfinished: (call) =>
      connection.run('reading the mark of a copy', call, async (options) => {
        const mark = await marks.findOne({ _id: 'copy' }, options);
        return mark?.isUnfinished === true;
      }),

    markUnfinished: (isUnfinished, call) =>
      connection.write('marking a copy', { ...call, timeout: BATCH_TIMEOUT }, async (options) => {
        await marks.updateOne(
          { _id: 'copy' },
          { $set: { isUnfinished } },
          { ...options, upsert: true },
        );
      }),

    reserveIds: (last, call) =>
      connection.write('reserving ids', { ...call, timeout: BATCH_TIMEOUT }, (options) =>
        inserts.reserve(last, options),
      ),

    writePets: (given, call) =>
      connection.write('writing animals', { ...call, timeout: BATCH_TIMEOUT }, async (options) => {
        const ids = given.map(({ id }) => id);
        const stored = await findStored(ids, options);
        const removed = new Set(ids.filter((id) => stored.get(id)?.removedUntil));
        if (removed.size > 0) {
          // Expire their claims: a new animal gets the id.
          await claims.updateMany(
            { 'pet._id': { $in: [...removed] } },
            { $set: { keepUntil: new Date(0) } },
            options,
          );
        }

        const writes = given.map((pet): AnyBulkWriteOperation<PetDocument> => {
          const document = toPetDocument(pet.id, pet, new ObjectId());
          // An animal that is stored stays as it is.
          if (!removed.has(pet.id)) return upsert(pet.id, { $setOnInsert: document });
          const filter = { _id: pet.id, removedUntil: { $type: 'date' } } as const;
          return { replaceOne: { filter, replacement: document } };
        });
        await writeAll(pets, writes, options);
      }),

    readClaims: ({ after, limit, now }, call) =>
      connection.run('reading claims', { ...call, timeout: BATCH_TIMEOUT }, async (options) => {
        const keepUntil = { $gt: new Date(now) };
        const page = {
          ...options,
          sort: { _id: 1 },
          limit,
        } as const;
        let start = after === undefined ? '' : claimId(after);
        while (true) {
          const found = await claims.find({ _id: { $gt: start }, keepUntil }, page).toArray();
          const read = found.map(readableClaim);
          const ids = read.map(({ pet }) => pet._id);
          const stored = await findStored(ids, options);
          const complete = read.filter(({ pet }) =>
            pet.operation.equals(stored.get(pet._id)?.operation),
          );
          const last = read.at(-1);
          // An empty result means that there are no more claims. So if all of these lack their animals, read on.
          if (complete.length > 0 || last === undefined) return complete.map(toPetClaim);
          start = last._id;
        }
      }),

    writeClaims: (given, call) =>
      connection.write('writing claims', { ...call, timeout: BATCH_TIMEOUT }, async (options) => {
        const ids = given.map(({ petId }) => petId);
        const stored = await findStored(ids, options);
        const petWrites: Array<AnyBulkWriteOperation<PetDocument>> = [];
        const claimWrites: Array<AnyBulkWriteOperation<ClaimDocument>> = [];
        for (const { petId, fingerprint, ...claim } of given) {
          const keepUntil = new Date(claim.keepUntil);
          // An animal without a document was removed before it was copied. It gets what its removal would have left.
          const pet = stored.get(petId) ?? {
            operation: new ObjectId(),
            removedUntil: keepUntil,
          };
          stored.set(petId, pet); // for its other claims in this batch
          petWrites.push(keepPet(petId, pet, keepUntil));
          const document = {
            fingerprint,
            keepUntil,
            // With another operation than its animal's, a retry of the create would add the animal again.
            pet: { _id: petId, operation: pet.operation },
          };
          claimWrites.push(upsert(claimId(claim), { $set: document }));
        }
        await writeAll(pets, petWrites, options);
        await writeAll(claims, claimWrites, options);
      }),
  };
}

const upsert = <Id, Update>(_id: Id, update: Update) => ({
  updateOne: {
    filter: { _id },
    update,
    upsert: true,
  },
});

/** Keeps the document of an animal at least as long as a claim of it. Makes the document if there is none. */
function keepPet(id: bigint, { operation, removedUntil }: StoredPet, keepUntil: Date) {
  const field = removedUntil ? 'removedUntil' : 'claimedUntil';
  return upsert(id, {
    $max: { [field]: keepUntil },
    $setOnInsert: { operation },
  });
}

/** Writes in any order, so that one that fails stops no other. The driver refuses an empty batch. */
async function writeAll<Stored extends Document>(
  collection: Collection<Stored>,
  writes: ReadonlyArray<AnyBulkWriteOperation<Stored>>,
  options: AttemptOptions,
): Promise<void> {
  if (writes.length === 0) return;
  await collection.bulkWrite(writes, { ...options, ordered: false });
}

function toPetClaim({ _id, fingerprint, keepUntil, pet }: ClaimDocument) {
  // The reverse of `claimId`.
  const [scope, key] = JSON.parse(_id) as [string, string];
  return {
    scope,
    key,
    fingerprint,
    keepUntil: keepUntil.getTime(),
    petId: pet._id,
  };
}
