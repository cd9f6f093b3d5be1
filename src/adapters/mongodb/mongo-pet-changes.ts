import { ObjectId, type Document, type Filter } from 'mongodb';
import type { CallOptions } from '../../application/animal-store.js';
import {
  unmetCondition,
  type PetChanges,
  type PetCondition,
} from '../../application/ports/pet-changes.js';
import { UnavailableError } from '../../domain/errors.js';
import { petWithId } from '../../domain/pet.js';
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
    condition: PetCondition,
    { signal }: CallOptions,
    updateOf: (operation: ObjectId) => Document | Document[],
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
      const unmet = unmetCondition(toPet(found), condition);
      if (unmet) throw unmet;
      const isFirst = expected === undefined;
      expected = last;
      // `$eq: null` also matches a document that was never changed.
      const unchanged = { _id: { $eq: found._id }, change: { $eq: last } } as Filter<PetDocument>;
      const { matchedCount } = await pets.updateOne(unchanged, updateOf(operation), options);
      options.signal.throwIfAborted(); // a later attempt has begun
      if (matchedCount === 1) return found;
      if (isFirst) expected = undefined; // this attempt has done nothing
      throw new LostRaceError('another call has changed the animal');
    });
  }

  return {
    async change(id, fields, condition, call = {}) {
      // No pipeline, which would take a name such as `$status` for a path.
      const found = await change('changing an animal', id, condition, call, (operation) => ({
        $set: { ...fields, change: operation },
      }));
      return found && petWithId(id, { ...toPet(found), ...fields });
    },

    async remove(id, condition, call = {}) {
      const found = await change('removing an animal', id, condition, call, (operation) => {
        const removedUntil = { $max: ['$claimedUntil', new Date()] };
        return [
          {
            $replaceWith: { _id: '$_id', operation: '$operation', change: operation, removedUntil },
          },
        ];
      });
      return found !== undefined;
    },
  };
}
