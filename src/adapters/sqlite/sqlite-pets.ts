import type { CreatedPet } from '../../application/animal-store.js';
import {
  CLOCK_TOLERANCE,
  type Claim,
  type PetRepository,
} from '../../application/ports/pet-repository.js';
import { replayOf } from '../../application/store-rules.js';
import { petWithId, type Pet, type UnsavedPet } from '../../domain/pet.js';
import { FIND_PET, INSERT_PET, PET_COLUMNS, toPet, toRow, type PetRow } from './pet-row.js';
import type { SqliteConnection } from './sqlite-connection.js';

/** Animals in an SQLite file. */
export function sqlitePets(connection: SqliteConnection): PetRepository {
  const sql = {
    insert: connection.prepare(INSERT_PET),
    find: connection.prepare<PetRow>(FIND_PET),
    // `LIMIT +?`: with a plain `LIMIT ?`, SQLite plans the statement again for each value.
    list: connection.prepare<PetRow>(
      `SELECT ${PET_COLUMNS} FROM pets WHERE id > ? ORDER BY id LIMIT +?`,
    ),
    listByStatus: connection.prepare<PetRow>(
      `SELECT ${PET_COLUMNS} FROM pets WHERE id > ? AND status = ? ORDER BY id LIMIT +?`,
    ),
    findClaim: connection.prepare<readonly [fingerprint: string, petId: bigint]>(
      'SELECT fingerprint, pet_id FROM claims WHERE scope = ? AND key = ? AND keep_until > ?',
    ),
    // REPLACE: an expired claim may still be stored.
    putClaim: connection.prepare(
      'REPLACE INTO claims (scope, key, fingerprint, pet_id, keep_until) VALUES (?, ?, ?, ?, ?)',
    ),
    // Each new claim removes up to two expired ones: they cannot accumulate, and the cost is constant.
    findExpired: connection.prepare<readonly [scope: string, key: string]>(
      'SELECT scope, key FROM claims WHERE keep_until <= ? ORDER BY keep_until LIMIT 2',
    ),
    removeClaim: connection.prepare('DELETE FROM claims WHERE scope = ? AND key = ?'),
  };

  const insert = (pet: UnsavedPet): Pet =>
    petWithId(sql.insert.run(...toRow(null, pet)).lastInsertRowid, pet);

  function insertOnce(pet: UnsavedPet, claim: Claim, now: number): CreatedPet {
    const { scope, key, fingerprint, keepUntil } = claim;
    const earlier = sql.findClaim.get(scope, key, now);
    if (earlier) return replayOf({ fingerprint: earlier[0], petId: earlier[1] }, pet, claim);
    const inserted = insert(pet);
    sql.putClaim.run(scope, key, fingerprint, inserted.id, keepUntil);
    for (const expired of sql.findExpired.all(now - CLOCK_TOLERANCE))
      sql.removeClaim.run(...expired);
    return { pet: inserted, replayed: false };
  }

  return {
    add: (pet, options) => connection.write('adding an animal', options, () => insert(pet)),

    addOnce: (pet, claim, now, options) =>
      connection.write('adding an animal', options, () => insertOnce(pet, claim, now)),

    findById: (id, options) =>
      connection.read('reading an animal', options, () => {
        const row = sql.find.get(id);
        return row && toPet(row);
      }),

    list: ({ after = 0n, limit, status }, options) =>
      connection.read('listing animals', options, () => {
        const rows =
          status === undefined
            ? sql.list.all(after, limit)
            : sql.listByStatus.all(after, status, limit);
        return rows.map(toPet);
      }),
  };
}
