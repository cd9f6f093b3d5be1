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

/** The version of an animal that a document holds: the id of its latest change. */
const versionOf = ({ change }: PetDocument): string => String(change ?? 'never changed');

/**
 * Changes of the animals in a MongoDB database. Each change leaves its own id in the animal's document, as its version,
 * and replaces only the version that it has read: compare and set. So a retry whose first reply was lost recognises its
 * change, and none takes effect twice.
 */
export function mongoChanges(connection: MongoConnection): PetChanges {
  const pets = connection.collection<PetDocument>('pets');

  /**
   * Makes a change once, however many attempts it takes. Resolves to the document before or after the change, or to
   * `undefined` if there is no such animal.
   */
  function changeOnce({ doing, id, condition, update }: Change, call: CallOptions | undefined) {
    const change = new ObjectId();
    /**
     * The version that an attempt without a reply may replace. While it is stored, a retry is safe: both replace this
     * version, so only one of them can succeed.
     */
    let uncertainVersion: string | undefined;
    return connection.write(doing, call, async (options) => {
      const found = await pets.findOne({ _id: { $eq: id } }, options);
      if (found === null) return undefined;
      if (change.equals(found.change)) return found; // an earlier attempt made it; its reply was lost
      const version = versionOf(found);
      if (uncertainVersion !== undefined && uncertainVersion !== version) {
        const cause = new Error(
          'an interrupted attempt may have happened before the change of another call',
        );
        throw new UnavailableError(doing, { cause });
      }
      if (found.removedUntil) return undefined;
      const unmet = unmetCondition(toPet(found), condition);
      if (unmet) throw unmet;

      const wasUncertain = uncertainVersion !== undefined;
      uncertainVersion = version; // until the reply
      // `$eq: null` also matches a document that was never changed.
      const unchanged = {
        _id: { $eq: found._id },
        change: { $eq: found.change ?? null },
      } as Filter<PetDocument>;
      const { matchedCount } = await pets.updateOne(unchanged, update(change), options);
      // An attempt that was given up runs on beside the next one, which relies on `uncertainVersion`.
      options.signal.throwIfAborted();
      if (matchedCount === 1) return found;
      // This attempt changed nothing. One before it still may.
      if (!wasUncertain) uncertainVersion = undefined;
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
      const found = await changeOnce(change, call);
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
      const found = await changeOnce(removal, call);
      return found !== undefined;
    },
  };
}
