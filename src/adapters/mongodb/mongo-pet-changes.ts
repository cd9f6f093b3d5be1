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
    doing: string,
    id: bigint,
    from: PetStatus | undefined,
    update: UpdateFilter<PetDocument>,
  ) {
    while (true) {
      const updated = await pets
        .findOneAndUpdate(filterOf(id, from), update, { returnDocument: 'after' })
        .catch(withoutRetry(doing));
      if (updated) return updated;
      if (from === undefined) return undefined;
      const found = await pets.findOne(filterOf(id), READ_OPTIONS);
      if (!found) return undefined;
      requireStatus(toPet(found), from);
      // Another call changed the status between the two requests: retry.
    }
  }

  return {
    change(id, fields, from, options) {
      const doing = 'changing an animal';
      return write(doing, options, async () => {
        const changed = await updateFrom(doing, id, from, { $set: fields });
        return changed && toPet(changed);
      });
    },

    remove(id, from, options) {
      const doing = 'removing an animal';
      return write(doing, options, async () => {
        const removed = await updateFrom(doing, id, from, REMOVAL);
        return removed !== undefined;
      });
    },
  };
}

/** Ends the retries after a transient failure: the interrupted update may have taken effect. */
const withoutRetry =
  (doing: string) =>
  (cause: unknown): never => {
    throw isTransient(cause) ? new UnavailableError(doing, { cause }) : cause;
  };
