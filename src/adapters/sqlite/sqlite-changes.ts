import type { PetChanges } from '../../application/ports/pet-changes.js';
import { StatusConflictError } from '../../domain/errors.js';
import { petWithId, type Pet } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet-status.js';
import { FIND_PET, PET_COLUMNS, toRow, toPet, type PetRow } from './sqlite-pets.js';
import type { SqliteConnection } from './sqlite-connection.js';

/**
 * Changes of the animals in an SQLite file. They run under the write lock, so nothing comes between the look at an animal
 * and its change.
 */
export function sqliteChanges(connection: SqliteConnection): PetChanges {
  const sql = {
    find: connection.prepare<PetRow>(FIND_PET),
    change: connection.prepare(`UPDATE pets SET (${PET_COLUMNS}) = (?1, ?2, ?3, ?4) WHERE id = ?1`),
    remove: connection.prepare('DELETE FROM pets WHERE id = ?'),
  };

  function find(id: bigint, from: PetStatus | undefined): Pet | undefined {
    const row = sql.find.get(id);
    const pet = row && toPet(row);
    if (pet && from !== undefined && pet.status !== from) throw new StatusConflictError(pet.status);
    return pet;
  }

  return {
    change: (id, change, from, call) =>
      connection.write('changing an animal', call, () => {
        const pet = find(id, from);
        const changed = pet && petWithId(id, { ...pet, ...change });
        if (changed) sql.change.run(...toRow(id, changed));
        return changed;
      }),

    remove: (id, from, call) =>
      connection.write('removing an animal', call, () => {
        find(id, from);
        return sql.remove.run(id).changes > 0n;
      }),
  };
}
