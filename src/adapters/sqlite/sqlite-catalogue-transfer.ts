import type { CatalogueTransfer } from '../../application/ports/catalogue-transfer.js';
import {
  CLAIM_COLUMNS,
  claimRow,
  FIND_COPY_MARK,
  INSERT_PET,
  LAST_ID,
  petRow,
  PUT_CLAIM,
  toClaim,
  type ClaimRow,
} from './schema.js';
import type { SqliteConnection } from './sqlite-connection.js';

/** The whole of a store in an SQLite file, for copies. A batch is one transaction. */
export function sqliteTransfer(connection: SqliteConnection): CatalogueTransfer {
  const sql = {
    count: connection.prepare<readonly [bigint]>('SELECT count(*) FROM pets'),
    lastId: connection.prepare<readonly [bigint]>(LAST_ID),
    raiseLastId: connection.prepare(
      "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'pets'",
    ),
    insertLastId: connection.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('pets', ?)"),
    mark: connection.prepare(
      "INSERT INTO sqlite_sequence (name, seq) VALUES ('unfinished copy', 1)",
    ),
    unmark: connection.prepare("DELETE FROM sqlite_sequence WHERE name = 'unfinished copy'"),
    findMark: connection.prepare<readonly [bigint]>(FIND_COPY_MARK),
    insertPet: connection.prepare(`${INSERT_PET} ON CONFLICT (id) DO NOTHING`),
    // Once for a whole batch, because it reads all claims. The ids come as one JSON text: SQLite reads them as int64.
    endClaims: connection.prepare(
      `DELETE FROM claims WHERE pet_id IN (SELECT value FROM json_each(?))
      AND NOT EXISTS (SELECT 1 FROM pets WHERE id = pet_id)`,
    ),
    readClaims: connection.prepare<ClaimRow>(
      `SELECT ${CLAIM_COLUMNS} FROM claims
      WHERE (scope, key) > (?, ?) AND keep_until > ? ORDER BY scope, key LIMIT ?`,
    ),
    putClaim: connection.prepare(PUT_CLAIM),
  };
  return {
    survey: (call) =>
      connection.read('surveying the store', call, () => ({
        pets: Number(sql.count.get()?.[0] ?? 0n),
        lastId: sql.lastId.get()?.[0] ?? 0n,
      })),

    isUnfinished: (call) =>
      connection.read('reading the mark of a copy', call, () => sql.findMark.get() !== undefined),

    markUnfinished: (isUnfinished, call) =>
      connection.write('marking a copy', call, () => {
        sql.unmark.run();
        if (isUnfinished) sql.mark.run();
      }),

    reserveIds: (last, call) =>
      connection.write('reserving ids', call, () => {
        if (sql.raiseLastId.run(last).changes === 0n) sql.insertLastId.run(last);
      }),

    writePets: (pets, call) =>
      connection.write('writing animals', call, () => {
        sql.endClaims.run(`[${pets.map(({ id }) => id).join(',')}]`);
        for (const pet of pets) sql.insertPet.run(...petRow(pet.id, pet));
      }),

    readClaims({ after = { scope: '', key: '' }, limit, now }, call) {
      const { scope, key } = after;
      return connection.read('reading claims', call, () =>
        sql.readClaims.all(scope, key, now, limit).map(toClaim),
      );
    },

    writeClaims: (claims, call) =>
      connection.write('writing claims', call, () => {
        for (const claim of claims) sql.putClaim.run(...claimRow(claim));
      }),
  };
}
