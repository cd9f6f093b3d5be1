import type { UpdateFilter } from 'mongodb';
import type { PetChanges } from '../../application/ports/pet-changes.js';
import { StatusConflictError, UnavailableError } from '../../domain/errors.js';
import type { PetStatus } from '../../domain/pet-status.js';
import { READ_LIMIT, type MongoConnection } from './mongo-connection.js';
import { isTransient } from './mongo-errors.js';
import { PRESENT, petCollection, toPet, type PetDocument } from './pet-document.js';

/** Changes and removals in a MongoDB database: the server compares and changes in one step. */
export function mongoPetChanges({ database, write }: MongoConnection): PetChanges {
  const pets = petCollection(database);

  async function updateFrom(
    id: bigint,
    from: PetStatus | undefined,
    update: UpdateFilter<PetDocument>,
  ) {
    const present = { _id: { $eq: id }, status: PRESENT };
    const wanted = from === undefined ? present : { ...present, status: { $eq: from } };
    for (;;) {
      const updated = await pets
        .findOneAndUpdate(wanted, update, { returnDocument: 'after' })
        .catch(refuseToRepeat);
      if (updated) return updated;
      const found = await pets.findOne(present, READ_LIMIT);
      if (!found) return undefined;
      const { status } = toPet(found);
      if (status !== from) throw new StatusConflictError(status);
      // Another call has just changed it back.
    }
  }

  return {
    change: (id, fields, from, call) =>
      write('changing an animal', call, async () => {
        const changed = await updateFrom(id, from, { $set: fields });
        return changed && toPet(changed);
      }),

    remove: (id, from, call) =>
      write('removing an animal', call, async () => {
        const removed = await updateFrom(id, from, {
          $unset: {
            name: 1,
            categoryId: 1,
            status: 1,
          },
        });
        return removed !== undefined;
      }),
  };
}

/** The outcome of an update that was interrupted is unknown: it must not happen twice. */
function refuseToRepeat(cause: unknown): never {
  throw isTransient(cause) ? new UnavailableError('changing an animal', { cause }) : cause;
}
