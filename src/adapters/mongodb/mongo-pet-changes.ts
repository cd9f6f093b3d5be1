import type { UpdateFilter } from 'mongodb';
import type { PetChanges } from '../../application/ports/pet-changes.js';
import { UnavailableError } from '../../domain/errors.js';
import { requireStatus } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet-status.js';
import { READ_OPTIONS } from './mongo-client.js';
import type { MongoConnection } from './mongo-connection.js';
import { isTransient } from './mongo-errors.js';
import { REMOVAL, filterOf, petCollection, toPet, type PetDocument } from './pet-document.js';

/** Changes and removals in a MongoDB database: the server compares and changes in one step. */
export function mongoPetChanges({ database, write }: MongoConnection): PetChanges {
  const pets = petCollection(database);

  async function updateFrom(
    id: bigint,
    from: PetStatus | undefined,
    update: UpdateFilter<PetDocument>,
  ) {
    while (true) {
      const updated = await pets
        .findOneAndUpdate(filterOf(id, from), update, { returnDocument: 'after' })
        .catch(refuseToRetry);
      if (updated) return updated;
      if (from === undefined) return undefined;
      const found = await pets.findOne(filterOf(id), READ_OPTIONS);
      if (!found) return undefined;
      requireStatus(toPet(found), from);
      // Another call changed the status between the two requests: retry.
    }
  }

  return {
    change: (id, fields, from, options) =>
      write('changing an animal', options, async () => {
        const changed = await updateFrom(id, from, { $set: fields });
        return changed && toPet(changed);
      }),

    remove: (id, from, options) =>
      write('removing an animal', options, async () => {
        const removed = await updateFrom(id, from, REMOVAL);
        return removed !== undefined;
      }),
  };
}

/** Keeps `write` from retrying an interrupted update: it may have taken effect. */
function refuseToRetry(cause: unknown): never {
  throw isTransient(cause) ? new UnavailableError('updating an animal', { cause }) : cause;
}
