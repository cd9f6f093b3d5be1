import type { Call } from '../../application/animal-store.js';
import type {
  CatalogueSurvey,
  CatalogueTransfer,
  ClaimRange,
  PetClaim,
} from '../../application/ports/catalogue-transfer.js';
import type { Pet } from '../../domain/pet.js';
import { CLAIM_COLUMNS, claimRow, INSERT_PET, petRow, PUT_CLAIM, toClaim, type ClaimRow } from './schema.js';
import type { SqliteConnection } from './sqlite-connection.js';

/** The whole of a store in an SQLite file, for copies. A batch is one transaction. */
export class SqliteCatalogueTransfer implements CatalogueTransfer {
  readonly #connection: SqliteConnection;
  readonly #sql;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#sql = {
      count: connection.prepare<readonly [bigint]>('SELECT count(*) FROM pets'),
      // AUTOINCREMENT looks here (https://sqlite.org/autoinc.html). The row appears with the first animal.
      lastId: connection.prepare<readonly [bigint]>("SELECT seq FROM sqlite_sequence WHERE name = 'pets'"),
      raiseLastId: connection.prepare("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'pets'"),
      insertLastId: connection.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('pets', ?)"),
      insertPet: connection.prepare(`${INSERT_PET} ON CONFLICT (id) DO NOTHING`),
      readClaims: connection.prepare<ClaimRow>(
        `SELECT ${CLAIM_COLUMNS} FROM claims
        WHERE (scope, key) > (?, ?) AND keep_until > ? ORDER BY scope, key LIMIT ?`,
      ),
      putClaim: connection.prepare(PUT_CLAIM),
    };
  }

  survey(call: Call = {}): Promise<CatalogueSurvey> {
    return this.#connection.read('surveying the store', call, () => ({
      pets: Number(this.#sql.count.get()?.[0] ?? 0n),
      lastId: this.#sql.lastId.get()?.[0] ?? 0n,
    }));
  }

  reserveIds(last: bigint, call: Call = {}): Promise<void> {
    return this.#connection.write('reserving ids', call, () => {
      if (this.#sql.raiseLastId.run(last).changes === 0n) this.#sql.insertLastId.run(last);
    });
  }

  async writePets(pets: readonly Pet[], call: Call = {}): Promise<void> {
    const rows = pets.map((pet) => petRow(pet.id, pet));
    return this.#connection.write('writing animals', call, () => {
      for (const row of rows) this.#sql.insertPet.run(...row);
    });
  }

  async readClaims({ after, limit, now }: ClaimRange, call: Call = {}): Promise<readonly PetClaim[]> {
    const { scope, key } = after ?? { scope: '', key: '' };
    const time = BigInt(now.getTime());
    return this.#connection.read('reading claims', call, () =>
      this.#sql.readClaims.all(scope, key, time, limit).map(toClaim),
    );
  }

  async writeClaims(claims: readonly PetClaim[], call: Call = {}): Promise<void> {
    const rows = claims.map(claimRow);
    return this.#connection.write('writing claims', call, () => {
      for (const row of rows) this.#sql.putClaim.run(...row);
    });
  }
}
