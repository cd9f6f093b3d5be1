import {
  unmetCondition,
  type PetChanges,
  type PetCondition,
} from '../../application/ports/pet-changes.js';
import { petWithId, type Pet } from '../../domain/pet.js';
import { FIND_PET, UPDATE_PET, petRow, toPet, type PetRow } from './schema.js';
import type { SqliteConnection } from './sqlite-connection.js';

/**
 * Changes of the animals in an SQLite file. They run under the write lock, so that nothing comes between the look at an
 * animal and its change. A claim names its animal by id alone, so it outlives its animal.
 */
export function sqliteChanges(connection: SqliteConnection): PetChanges {
  const sql = {
    find: connection.prepare<PetRow>(FIND_PET),
    change: connection.prepare(UPDATE_PET),
    remove: connection.prepare('DELETE FROM pets WHERE id = ?'),
  };

  /** @throws {AnimalStoreError} the animal does not meet the condition */
  function find(id: bigint, condition: PetCondition): Pet | undefined {
    const row = sql.find.get(id);
    if (row === undefined) return undefined;
    const pet = toPet(row);
    const unmet = unmetCondition(pet, condition);
    if (unmet !== undefined) throw unmet;
    return pet;
  }

  return {
    change: (id, fields, condition, call) =>
      connection.write('changing an animal', call, () => {
        const pet = find(id, condition);
        if (pet === undefined) return undefined;
        const changed = petWithId(id, { ...pet, ...fields });
        sql.change.run(...petRow(id, changed));
        return changed;
      }),

    remove: (id, condition, call) =>
      connection.write('removing an animal', call, () => {
        const pet = find(id, condition);
        sql.remove.run(id);
        return pet !== undefined;
      }),
  };
}
