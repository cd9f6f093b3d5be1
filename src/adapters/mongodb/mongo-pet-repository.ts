import { ObjectId } from 'mongodb';
import type { NothingElse } from '../../application/ports/pet-repository.js';
import type { CompleteStore } from '../../application/ports/store.js';
import { petWithId } from '../../domain/pet.js';
import type { MongoConnection } from './mongo-connection.js';
import { LostRaceError } from './mongo-errors.js';
import { mongoClaims } from './mongo-pet-claims.js';
import { PET_PROJECTION, PRESENT, toPet, toPetDocument, type PetDocument } from './pet-document.js';
import type { PetInserts } from './pet-inserts.js';

/** Animals in a MongoDB database, shared by any number of processes and machines. */
export function mongoPets(connection: MongoConnection, inserts: PetInserts): CompleteStore['pets'] {
  const pets = connection.collection<PetDocument>('pets');
  return {
    async add(pet, call) {
      const operation = new ObjectId();
      /** The id under which an earlier attempt, whose reply was lost, may have stored the animal. */
      let keptId: bigint | undefined;
      return connection.write('adding an animal', call, async (options) => {
        const id = keptId ?? (await inserts.nextId(options));
        keptId = id;
        const isStored = await inserts.insert(toPetDocument(id, pet, operation), options);
        if (isStored) return petWithId(id, pet);
        keptId = undefined; // taken: the next attempt needs another
        throw new LostRaceError(`another animal has the id ${id}`);
      });
    },

    addOnce: mongoClaims(connection, inserts),

    findById: (id, call) =>
      connection.run('reading an animal', call, async (options) => {
        const found = await pets.findOne(
          { _id: { $eq: id } },
          {
            ...options,
            projection: { ...PET_PROJECTION, removedUntil: 1 },
          },
        );
        return found === null || found.removedUntil ? undefined : toPet(found);
      }),

    list({ after = 0n, limit, status, ...others }, call) {
      void (others satisfies NothingElse);
      // With `$eq` a status is always a value, never an operator.
      const wanted = status === undefined ? PRESENT : { status: { $eq: status } };
      return connection.run('listing animals', call, async (options) => {
        const filter = { _id: { $gt: after }, ...wanted };
        const found = await pets
          .find(filter, {
            ...options,
            projection: PET_PROJECTION,
            sort: { _id: 1 },
            limit,
          })
          .toArray();
        return found.map(toPet);
      });
    },
  };
}
