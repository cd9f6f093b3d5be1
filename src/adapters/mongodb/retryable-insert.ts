import type { Collection, Filter, OptionalUnlessRequiredId } from 'mongodb';
import { READ_OPTIONS } from './mongo-client.js';
import { takenField, type UniqueField } from './mongo-errors.js';

/**
 * Returns a function that inserts a document. After a failure it may be called again, with the same document. It
 * resolves to `stored` when the document is stored, now or by an earlier call whose response was lost; otherwise it
 * says which unique field has a value that another document has.
 * @param isOwn whether the stored document with this `_id` is ours. Called only when an earlier call may have stored
 * it.
 */
export function retryableInsert<Stored extends { readonly _id: unknown }>(
  collection: Collection<Stored>,
  isOwn: (stored: Stored) => boolean,
): (document: Stored) => Promise<'stored' | `${UniqueField} taken`> {
  let mayBeStored = false; // the outcome of an earlier call is unknown

  return async (document) => {
    try {
      await collection.insertOne(document as OptionalUnlessRequiredId<Stored>);
      return 'stored';
    } catch (error) {
      const field = takenField(error);
      if (field === undefined) {
        mayBeStored = true;
        throw error;
      }
      if (field === '_id' && mayBeStored) {
        const sameId = { _id: { $eq: document._id } } as Filter<Stored>;
        const stored = await collection.findOne<Stored>(sameId, READ_OPTIONS);
        if (!stored) throw error; // probably ours, but no majority has it yet
        if (isOwn(stored)) return 'stored';
      }
      return `${field} taken`;
    }
  };
}
