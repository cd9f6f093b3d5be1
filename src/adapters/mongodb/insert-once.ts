import type { Collection, Filter, ObjectId, OptionalUnlessRequiredId } from 'mongodb';
import { LostRaceError, isDuplicateKey } from './mongo-errors.js';
import type { AttemptOptions } from './retry.js';

/**
 * Inserts a document whose `operation` makes that safe to repeat: if the reply to an earlier insert was lost, this one
 * recognises it. Resolves to `false` when the document of another operation has the `_id`.
 */
export async function insertOnce<
  Stored extends { readonly _id: bigint | string; readonly operation: ObjectId },
>(
  collection: Collection<Stored>,
  document: Stored & OptionalUnlessRequiredId<Stored>,
  options: AttemptOptions,
): Promise<boolean> {
  try {
    await collection.insertOne(document, options);
    return true;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  const { _id, operation } = document;
  const found = await collection.findOne({ _id } as Filter<Stored>, {
    ...options,
    projection: { operation: 1 },
  });
  if (found === null)
    throw new LostRaceError(`the majority does not have ${_id} in ${collection.collectionName} yet`);
  return operation.equals(found['operation']);
}
