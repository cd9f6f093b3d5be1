import type { Call } from '../../application/animal-store.js';
import type {
  CatalogueSurvey,
  CatalogueTransfer,
  ClaimRange,
  PetClaim,
} from '../../application/ports/catalogue-transfer.js';
import type { Pet } from '../../domain/pet.js';
import { readText, writeText } from './exact-text.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { PET_SQL } from './sqlite-pet-repository.js';
import { SqliteSession } from './sqlite-session.js';

const SQL = {
  count: 'SELECT count(*) FROM pets',
  lastId: `SELECT seq FROM sqlite_sequence WHERE name = 'pets'`,
  // AUTOINCREMENT looks here (https://sqlite.org/autoinc.html). The row comes with the first animal.
  raiseLastId: `UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'pets'`,
  beginIdsAfter: `INSERT INTO sqlite_sequence (name, seq) VALUES ('pets', ?)`,
  writePet: `INSERT INTO pets (id, name, category_id, status) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
  // Both by the primary key; texts are never empty, for they are JSON texts.
  readClaims: `SELECT scope, token, fingerprint, pet_id, keep_until FROM claims
    WHERE (scope, token) > (?, ?) AND keep_until > ? ORDER BY scope, token LIMIT ?`,
} as const;

type ClaimRow = readonly [
  scope: string,
  token: string,
  fingerprint: string,
  petId: bigint,
  keepUntil: bigint,
];

/** All of a store in an SQLite file. A batch is one transaction, and on the disk when it is answered. */
export class SqliteCatalogueTransfer implements CatalogueTransfer {
  readonly #session: SqliteSession;
  readonly #count;
  readonly #lastId;
  readonly #raiseLastId;
  readonly #beginIdsAfter;
  readonly #writePet;
  readonly #readClaims;
  readonly #writeClaim;

  constructor(connection: SqliteConnection) {
    this.#count = connection.prepare<readonly [bigint]>(SQL.count);
    this.#lastId = connection.prepare<readonly [bigint]>(SQL.lastId);
    this.#raiseLastId = connection.prepare(SQL.raiseLastId);
    this.#beginIdsAfter = connection.prepare(SQL.beginIdsAfter);
    this.#writePet = connection.prepare(SQL.writePet);
    this.#readClaims = connection.prepare<ClaimRow>(SQL.readClaims);
    this.#writeClaim = connection.prepare(PET_SQL.keepClaim);
    this.#session = new SqliteSession(connection);
  }

  survey(call: Call = {}): Promise<CatalogueSurvey> {
    return this.#session.read('surveying the store', call, () => ({
      pets: Number(this.#count.get()?.[0] ?? 0n),
      lastId: this.#lastId.get()?.[0] ?? 0n,
    }));
  }

  writePets(pets: readonly Pet[], call: Call = {}): Promise<void> {
    const rows = pets.map(({ id, name, categoryId, status }) => [id, name, categoryId, status] as const);
    return this.#session.write('writing animals', call, () => {
      for (const row of rows) this.#writePet.run(...row);
    });
  }

  readClaims({ after, limit, now }: ClaimRange, call: Call = {}): Promise<readonly PetClaim[]> {
    const [scope, token] = after ? [writeText(after.scope), writeText(after.key)] : ['', ''];
    const time = BigInt(now.getTime());
    return this.#session.read('reading claims', call, () =>
      this.#readClaims.all(scope, token, time, limit).map(toClaim),
    );
  }

  writeClaims(claims: readonly PetClaim[], call: Call = {}): Promise<void> {
    const rows = claims.map(toClaimRow);
    return this.#session.write('writing claims', call, () => {
      for (const row of rows) this.#writeClaim.run(...row);
    });
  }

  reserveIds(last: bigint, call: Call = {}): Promise<void> {
    return this.#session.write('reserving ids', call, () => {
      if (this.#raiseLastId.run(last).changes === 0n) this.#beginIdsAfter.run(last);
    });
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

const toClaim = ([scope, token, fingerprint, petId, keepUntil]: ClaimRow): PetClaim => ({
  scope: readText(scope),
  key: readText(token),
  fingerprint: readText(fingerprint),
  petId,
  keepUntil: new Date(Number(keepUntil)),
});

const toClaimRow = ({ scope, key, fingerprint, petId, keepUntil }: PetClaim): ClaimRow => [
  writeText(scope),
  writeText(key),
  writeText(fingerprint),
  petId,
  BigInt(keepUntil.getTime()),
];
