import type { Call } from '../../application/animal-store.js';
import type { PetChanges } from '../../application/ports/pet-changes.js';
import { StatusConflictError } from '../../domain/errors.js';
import { savedPet, type Pet } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet-status.js';
import { FIND_PET, toPet, type PetRow } from './schema.js';
import type { SqliteConnection } from './sqlite-connection.js';

/** Changes of the animals in an SQLite file. A claim names its animal by id alone, so it outlives its animal. */
export function sqliteChanges(connection: SqliteConnection): PetChanges {
  const sql = {
    find: connection.prepare<PetRow>(FIND_PET),
    changeStatus: connection.prepare('UPDATE pets SET status = ? WHERE id = ?'),
    remove: connection.prepare('DELETE FROM pets WHERE id = ?'),
  };

  /** Changes the animal under the write lock, so that nothing comes between the look at its status and the change. */
  async function change<Result>(
    doing: string,
    id: bigint,
    from: readonly PetStatus[],
    call: Call,
    run: (pet: Pet) => Result,
  ): Promise<Result | undefined> {
    const outcome = await connection.write(doing, call, () => {
      const row = sql.find.get(id);
      if (row === undefined) return undefined;
      const pet = toPet(row);
      // Returned, not thrown: it has nothing to undo, so the batch goes on.
      return from.includes(pet.status) ? run(pet) : new StatusConflictError(pet.status);
    });
    if (outcome instanceof StatusConflictError) throw outcome;
    return outcome;
  }

  return {
    changeStatus: (id, status, from, call = {}) =>
      change('changing an animal', id, from, call, (pet) => {
        sql.changeStatus.run(status, id);
        return savedPet(id, { ...pet, status });
      }),

    remove: async (id, from, call = {}) =>
      (await change('removing an animal', id, from, call, () => sql.remove.run(id))) !== undefined,
  };
}
