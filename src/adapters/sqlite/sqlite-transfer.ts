import type { CatalogueTransfer } from '../../application/ports/catalogue-transfer.js';
import { INSERT_PET, toRow } from './pet-row.js';
import type { SqliteConnection } from './sqlite-connection.js';

/** Copies into and out of an SQLite file. A batch is one transaction. */
export function sqliteTransfer(connection: SqliteConnection): CatalogueTransfer {
  // AUTOINCREMENT assigns ids above the one in sqlite_sequence: https://sqlite.org/autoinc.html
  const sql = {
    lastId: connection.prepare<[bigint]>("SELECT seq FROM sqlite_sequence WHERE name = 'pets'"),
    raiseLastId: connection.prepare(
      "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'pets'",
    ),
    insertPet: connection.prepare(`${INSERT_PET} ON CONFLICT (id) DO NOTHING`),
  };
  return {
    lastId: (options) =>
      connection.read('reading the last id', options, () => sql.lastId.get()?.[0] ?? 0n),

    writePets: (pets, lastId, options) =>
      connection.write('writing animals', options, () => {
        for (const pet of pets) sql.insertPet.run(...toRow(pet.id, pet));
        sql.raiseLastId.run(lastId);
      }),
  };
}
