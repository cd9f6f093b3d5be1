import type { PetChanges } from '../../application/ports/pet-changes.js';
import { petWithId, requireStatus, type Pet } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet-status.js';
import { FIND_PET, toPet, toRow, type PetRow } from './pet-row.js';
import type { SqliteConnection } from './sqlite-connection.js';

/**
 * Changes and removals in an SQLite file. Each runs in one write transaction, so no other process changes the animal
 * between SELECT and UPDATE.
 */
export function sqlitePetChanges(connection: SqliteConnection): PetChanges {
  const sql = {
    find: connection.prepare<PetRow>(FIND_PET),
    change: connection.prepare(
      'UPDATE pets SET name = ?2, category_id = ?3, status = ?4 WHERE id = ?1',
    ),
    remove: connection.prepare('DELETE FROM pets WHERE id = ?'),
  };

  function findWithStatus(id: bigint, from: PetStatus | undefined): Pet | undefined {
    const row = sql.find.get(id);
    if (row === undefined) return undefined;
    const pet = toPet(row);
    requireStatus(pet, from);
    return pet;
  }

  return {
    change: (id, change, from, options) =>
      connection.write('changing an animal', options, () => {
        const pet = findWithStatus(id, from);
        const changed = pet && petWithId(id, { ...pet, ...change });
        if (changed) sql.change.run(...toRow(id, changed));
        return changed;
      }),

    remove: (id, from, options) =>
      connection.write('removing an animal', options, () => {
        const exists = findWithStatus(id, from) !== undefined;
        if (exists) sql.remove.run(id);
        return exists;
      }),
  };
}
