import type { CreatedPet } from '../../application/animal-store.js';
import type { Claim, NothingElse } from '../../application/ports/pet-repository.js';
import type { CompleteStore } from '../../application/ports/store.js';
import { IdempotencyKeyReusedError, UnavailableError } from '../../domain/errors.js';
import { INT64_MAX } from '../../domain/int64.js';
import { petWithId, type Pet, type UnsavedPet } from '../../domain/pet.js';
import { isFull } from './sqlite-errors.js';
import {
  claimRow,
  FIND_PET,
  INSERT_PET,
  LAST_ID,
  PET_COLUMNS,
  petRow,
  PUT_CLAIM,
  toPet,
  type PetRow,
} from './schema.js';
import type { SqliteConnection } from './sqlite-connection.js';

/** How long an expired claim is kept for calls whose clock is behind: an hour, in milliseconds. */
const SWEEP_DELAY = 60 * 60 * 1000;

/** Animals in an SQLite file. What is acknowledged is on the disk, and several processes may share the file. */
export function sqlitePets(connection: SqliteConnection): CompleteStore['pets'] {
  const sql = {
    insert: connection.prepare(INSERT_PET),
    lastId: connection.prepare<readonly [bigint]>(LAST_ID),
    find: connection.prepare<PetRow>(FIND_PET),
    // `LIMIT +?`: after a plain `LIMIT ?`, SQLite plans the statement anew for each value.
    // `INDEXED BY`: after an ANALYZE of another tool, SQLite could scan all animals.
    list: connection.prepare<PetRow>(
      `SELECT ${PET_COLUMNS} FROM pets WHERE id > ? ORDER BY id LIMIT +?`,
    ),
    listByStatus: connection.prepare<PetRow>(
      `SELECT ${PET_COLUMNS} FROM pets INDEXED BY pets_by_status
      WHERE id > ? AND status = ? ORDER BY id LIMIT +?`,
    ),
    findClaim: connection.prepare<readonly [fingerprint: string, petId: bigint]>(
      'SELECT fingerprint, pet_id FROM claims WHERE scope = ? AND key = ? AND keep_until > ?',
    ),
    putClaim: connection.prepare(PUT_CLAIM),
    // Up to two for each new claim: so expired claims become fewer, at a constant cost.
    findExpired: connection.prepare<readonly [scope: string, key: string]>(
      `SELECT scope, key FROM claims INDEXED BY claims_by_keep_until
      WHERE keep_until <= ? ORDER BY keep_until LIMIT 2`,
    ),
    removeClaim: connection.prepare('DELETE FROM claims WHERE scope = ? AND key = ?'),
  };

  function insert(pet: UnsavedPet): Pet {
    try {
      return petWithId(sql.insert.run(...petRow(null, pet)).lastInsertRowid, pet);
    } catch (error) {
      // SQLite says of both that the database or disk is full.
      if (!isFull(error) || sql.lastId.get()?.[0] !== INT64_MAX) throw error;
      const cause = new Error('no greater id is left');
      throw new UnavailableError('adding an animal', { cause });
    }
  }

  function addOnce(pet: UnsavedPet, claim: Claim, now: number): CreatedPet {
    const earlier = sql.findClaim.get(claim.scope, claim.key, now);
    if (earlier !== undefined) {
      const [fingerprint, petId] = earlier;
      if (fingerprint !== claim.fingerprint) throw new IdempotencyKeyReusedError();
      return { pet: petWithId(petId, pet), replayed: true };
    }
    const added = insert(pet);
    sql.putClaim.run(...claimRow({ ...claim, petId: added.id }));
    for (const expired of sql.findExpired.all(now - SWEEP_DELAY)) sql.removeClaim.run(...expired);
    return { pet: added, replayed: false };
  }

  return {
    add: (pet, call) => connection.write('adding an animal', call, () => insert(pet)),

    addOnce: (pet, claim, now, call) =>
      connection.write('adding an animal', call, () => addOnce(pet, claim, now)),

    findById: (id, call) =>
      connection.read('reading an animal', call, () => {
        const row = sql.find.get(id);
        return row && toPet(row);
      }),

    list({ after = 0n, limit, status, ...others }, call) {
      void (others satisfies NothingElse);
      return connection.read('listing animals', call, () => {
        const rows =
          status === undefined
            ? sql.list.all(after, limit)
            : sql.listByStatus.all(after, status, limit);
        return rows.map(toPet);
      });
    },
  };
}
