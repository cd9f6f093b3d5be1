import type { CallOptions } from '../../application/animal-store.js';
import {
  unmetCondition,
  type PetChanges,
  type PetCondition,
} from '../../application/ports/pet-changes.js';
import { AnimalStoreError } from '../../domain/errors.js';
import { petWithId, type Pet } from '../../domain/pet.js';
import { FIND_PET, UPDATE_PET, petRow, toPet, type PetRow } from './schema.js';
import type { SqliteConnection } from './sqlite-connection.js';

/** Changes of the animals in an SQLite file. A claim names its animal by id alone, so it outlives its animal. */
export function sqliteChanges(connection: SqliteConnection): PetChanges {
  const sql = {
    find: connection.prepare<PetRow>(FIND_PET),
    change: connection.prepare(UPDATE_PET),
    remove: connection.prepare('DELETE FROM pets WHERE id = ?'),
  };

  /** Changes the animal under the write lock, so that nothing comes between the look at it and the change. */
  async function change<Result>(
    doing: string,
    id: bigint,
    condition: PetCondition,
    call: CallOptions,
    run: (pet: Pet) => Result,
  ): Promise<Result | undefined> {
    const outcome = await connection.write(doing, call, () => {
      const row = sql.find.get(id);
      if (row === undefined) return undefined;
      const pet = toPet(row);
      // Returned, not thrown: it has nothing to undo, so the batch goes on.
      return unmetCondition(pet, condition) ?? run(pet);
    });
    if (outcome instanceof AnimalStoreError) throw outcome;
    return outcome;
  }

  return {
    change: (id, fields, condition, call = {}) =>
      change('changing an animal', id, condition, call, (pet) => {
        const changed = petWithId(id, { ...pet, ...fields });
        sql.change.run(...petRow(id, changed));
        return changed;
      }),

    remove: async (id, condition, call = {}) =>
      (await change('removing an animal', id, condition, call, () => sql.remove.run(id))) !==
      undefined,
  };
}
