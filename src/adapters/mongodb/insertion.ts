import type { Collection, Filter, OptionalUnlessRequiredId } from 'mongodb';
import { READ_LIMIT } from './mongo-connection.js';
import { takenField } from './mongo-errors.js';

/**
 * Returns a function that inserts a document, the same one at each try. It resolves to the unique field whose value
 * another document has, or to `undefined` when the document is stored: by this try, or by one whose reply was lost.
 * @param isOwn whether the stored document with the same `_id` is the inserted one. Only asked after a try with an unknown
 * outcome: before that it must be another's.
 */
export function insertion<Stored extends { readonly _id: unknown }>(
  collection: Collection<Stored>,
  isOwn: (stored: Stored) => boolean,
) {
  let mayBeStored = false;

  return async (document: Stored): Promise<string | undefined> => {
    try {
      await collection.insertOne(document as OptionalUnlessRequiredId<Stored>);
      return undefined;
    } catch (error) {
      const field = takenField(error);
      if (field === undefined) {
        mayBeStored = true;
        throw error;
      }
      if (field !== '_id' || !mayBeStored) return field;
      const sameId = { _id: { $eq: document._id } } as Filter<Stored>;
      const stored = await collection.findOne<Stored>(sameId, READ_LIMIT);
      return stored && isOwn(stored) ? undefined : field;
    }
  };
}
