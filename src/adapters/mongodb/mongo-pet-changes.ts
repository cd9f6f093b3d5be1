import { ObjectId, type Document, type Filter } from 'mongodb';
import type { Call } from '../../application/animal-store.js';
import type { PetChanges } from '../../application/ports/pet-changes.js';
import { StatusConflictError, UnavailableError } from '../../domain/errors.js';
import { savedPet } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet-status.js';
import type { MongoConnection } from './mongo-connection.js';
import { LostRaceError } from './mongo-errors.js';
import { toPet, type PetDocument } from './pet-document.js';

/**
 * Changes of the animals in a MongoDB database. Each change leaves its own id in the animal's document, and replaces only
 * the document with the id of the change before: compare and set. So a retry whose first reply was lost recognises its
 * change, and none takes effect twice.
 */
export function mongoChanges(connection: MongoConnection): PetChanges {
  const pets = connection.collection<PetDocument>('pets');

  /** Resolves to the document before or after the change, or to `undefined` if there is no such animal. */
  function change(
    doing: string,
    id: bigint,
    from: readonly PetStatus[],
    { signal }: Call,
    updateOf: (operation: ObjectId) => Document,
  ): Promise<PetDocument | undefined> {
    const operation = new ObjectId();
    /** The change before, in the document that an earlier attempt may have replaced. */
    let expected: ObjectId | null | undefined;
    return connection.write(doing, { signal }, async (options) => {
      const found = await pets.findOne({ _id: { $eq: id } }, options);
      const last = found?.change ?? null;
      if (found && operation.equals(last)) return found;
      if (expected !== undefined && !(found && String(last) === String(expected))) {
        const cause = new Error(
          'an interrupted attempt may have happened before the change of another call',
        );
        throw new UnavailableError(doing, { cause });
      }
      if (found === null || found.removedUntil) return undefined;
      const { status } = toPet(found);
      if (!from.includes(status)) throw new StatusConflictError(status);
      const isFirst = expected === undefined;
      expected = last;
      // `$eq: null` also matches a document that was never changed.
      const unchanged = { _id: { $eq: found._id }, change: { $eq: last } } as Filter<PetDocument>;
      const { matchedCount } = await pets.updateOne(unchanged, [updateOf(operation)], options);
      options.signal.throwIfAborted(); // a later attempt has begun
      if (matchedCount === 1) return found;
      if (isFirst) expected = undefined; // this attempt has done nothing
      throw new LostRaceError('another call has changed the animal');
    });
  }

  return {
    async changeStatus(id, status, from, call = {}) {
      const found = await change('changing an animal', id, from, call, (operation) => ({
        $set: { status, change: operation },
      }));
      return found && savedPet(id, { ...toPet(found), status });
    },

    async remove(id, from, call = {}) {
      const found = await change('removing an animal', id, from, call, (operation) => {
        const removedUntil = { $max: ['$claimedUntil', new Date()] };
        return {
          $replaceWith: { _id: '$_id', operation: '$operation', change: operation, removedUntil },
        };
      });
      return found !== undefined;
    },
  };
}
