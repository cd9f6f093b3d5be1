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
    lastId: (call) => read('reading the last id', call, () => ids.last()),

    writePets: (written, lastId, call) =>
      write('writing animals', call, async () => {
        await ids.skip(lastId);
        const writes = written.map(({ id, ...fields }) => ({
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
