import type { Collection, Filter, OptionalUnlessRequiredId } from 'mongodb';
import { READ_OPTIONS } from './mongo-client.js';
import { takenField, type UniqueField } from './mongo-errors.js';

/** What the tries of one insert share. */
export interface InsertTries {
  /** Whether the outcome of an earlier try is unknown. */
  mayBeStored?: boolean;
}

/**
 * One try to insert a document. Resolves to `stored` when it is stored, now or by an earlier try whose response was
 * lost; otherwise to the unique field whose value another document has.
 * @param isOwn whether the stored document with this `_id` is ours. Called only when an earlier try may have stored it.
 */
export async function tryToInsert<Stored extends { readonly _id: unknown }>(
  collection: Collection<Stored>,
  document: Stored,
  tries: InsertTries,
  isOwn: (stored: Stored) => boolean,
): Promise<'stored' | UniqueField> {
  try {
    await collection.insertOne(document as OptionalUnlessRequiredId<Stored>);
    return 'stored';
  } catch (error) {
    const field = takenField(error);
    if (field === undefined) {
      tries.mayBeStored = true;
      throw error;
    }
    if (field === '_id' && tries.mayBeStored) {
      const sameId = { _id: { $eq: document._id } } as Filter<Stored>;
      const stored = await collection.findOne<Stored>(sameId, READ_OPTIONS);
      if (stored && isOwn(stored)) return 'stored';
    }
    return field;
  }
}
