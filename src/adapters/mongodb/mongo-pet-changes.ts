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

/** A change of one animal, or its removal. */
interface Change {
  readonly doing: string;
  readonly id: bigint;
  readonly condition: PetCondition;
  /** Makes the update, which leaves the change's own id in the document as `change`. */
  readonly update: (change: ObjectId) => Document | Document[];
}

/**
 * Changes of the animals in a MongoDB database. Each change leaves its own id in the animal's document, and replaces only
 * the document with the id of the change before: compare and set. So a retry whose first reply was lost recognises its
 * change, and none takes effect twice.
 */
export function mongoChanges(connection: MongoConnection): PetChanges {
  const pets = connection.collection<PetDocument>('pets');

  /** Resolves to the document before or after the change, or to `undefined` if there is no such animal. */
  function make({ doing, id, condition, update }: Change, call: CallOptions | undefined) {
    const change = new ObjectId();
    /** What an update whose reply is lost, or late, may have replaced. */
    let mayBeReplaced: PetDocument | undefined;
    return connection.write(doing, call, async (options) => {
      const found = await pets.findOne({ _id: { $eq: id } }, options);
      if (found === null) return undefined;
      if (change.equals(found.change)) return found; // an earlier attempt made it
      if (mayBeReplaced && String(mayBeReplaced.change) !== String(found.change)) {
        const cause = new Error(
          'an interrupted attempt may have happened before the change of another call',
        );
        throw new UnavailableError(doing, { cause });
      }
      if (found.removedUntil) return undefined;
      const unmet = unmetCondition(toPet(found), condition);
      if (unmet) throw unmet;

      // If the update fails, nobody knows whether it happened.
      const mayBeReplacedBefore = mayBeReplaced;
      mayBeReplaced = found;
      // `$eq: null` also matches a document that was never changed.
      const unchanged = {
        _id: { $eq: found._id },
        change: { $eq: found.change ?? null },
      } as Filter<PetDocument>;
      const { matchedCount } = await pets.updateOne(unchanged, update(change), options);
      options.signal.throwIfAborted(); // a later attempt has begun
      if (matchedCount === 1) return found;
      // This attempt has done nothing; one before it may have.
      mayBeReplaced = mayBeReplacedBefore;
      throw new LostRaceError('another call has changed the animal');
    });
  }

  return {
    async change(id, fields, condition, call) {
      // No pipeline, which would take a name such as `$status` for a path.
      const update = (operation: ObjectId) => ({ $set: { ...fields, change: operation } });
      const change = {
        doing: 'changing an animal',
        id,
        condition,
        update,
      };
      const found = await make(change, call);
      return found && petWithId(id, { ...toPet(found), ...fields });
    },

    async remove(id, condition, call) {
      const removedUntil = { $max: ['$claimedUntil', new Date()] };
      const update = (change: ObjectId) => [
        {
          $replaceWith: {
            _id: '$_id',
            operation: '$operation',
            change,
            removedUntil,
          },
        },
      ];
      const removal = {
        doing: 'removing an animal',
        id,
        condition,
        update,
      };
      const found = await make(removal, call);
      return found !== undefined;
    },
  };
}
