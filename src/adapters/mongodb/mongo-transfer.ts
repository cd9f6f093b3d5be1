import type { CatalogueTransfer } from '../../application/ports/catalogue-transfer.js';
import type { MongoConnection } from './mongo-connection.js';
import { petCollection } from './pet-document.js';
import type { PetIds } from './pet-ids.js';

/** Copies into and out of a MongoDB database. */
export function mongoTransfer(
  { database, read, write }: MongoConnection,
  ids: PetIds,
): CatalogueTransfer {
  const pets = petCollection(database);
  return {
    lastId: (options) => read('reading the last id', options, () => ids.last()),

    writePets: (batch, lastId, options) =>
      write('writing animals', options, async () => {
        await ids.skip(lastId);
        const writes = batch.map(({ id, ...fields }) => ({
          updateOne: {
            filter: { _id: { $eq: id } },
            update: { $setOnInsert: fields },
            upsert: true,
          },
        }));
        if (writes.length > 0) await pets.bulkWrite(writes, { ordered: false });
      }),
  };
}
