import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Call } from '../../application/call.js';
import { byAge, type ApiKeyRecord } from '../../application/ports/api-key-repository.js';
import type {
  CatalogueSurvey,
  CatalogueTransfer,
  ClaimBatch,
  KeptClaim,
  PetBatch,
} from '../../application/ports/catalogue-transfer.js';
import { INT64_MAX } from '../../domain/int64.js';
import type { Pet } from '../../domain/pet.js';
import { readText, writeText } from './exact-text.js';
import { API_KEY_SQL, toColumns, toRecord, type KeyRow } from './sqlite-api-key-repository.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { PET_SQL, toPet, type PetRow } from './sqlite-pet-repository.js';
import { SqliteSession } from './sqlite-session.js';

const SQL = {
  isEmpty: 'SELECT NOT EXISTS (SELECT 1 FROM pets) AND NOT EXISTS (SELECT 1 FROM api_keys)',
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
  readonly #isEmpty;
  readonly #count;
  readonly #lastId;
  readonly #raiseLastId;
  readonly #beginIdsAfter;
  readonly #readPets;
  readonly #writePet;
  readonly #readClaims;
  readonly #writeClaim;
  readonly #readKeys;
  readonly #writeKey;

  constructor(connection: SqliteConnection) {
    this.#isEmpty = connection.prepare<readonly [bigint]>(SQL.isEmpty);
    this.#count = connection.prepare<readonly [bigint]>(SQL.count);
    this.#lastId = connection.prepare<readonly [bigint]>(SQL.lastId);
    this.#raiseLastId = connection.prepare(SQL.raiseLastId);
    this.#beginIdsAfter = connection.prepare(SQL.beginIdsAfter);
    this.#readPets = connection.prepare<PetRow>(PET_SQL.list);
    this.#writePet = connection.prepare(SQL.writePet);
    this.#readClaims = connection.prepare<ClaimRow>(SQL.readClaims);
    this.#writeClaim = connection.prepare(PET_SQL.keepClaim);
    this.#readKeys = connection.prepare<KeyRow>(API_KEY_SQL.list);
    this.#writeKey = connection.prepare(API_KEY_SQL.replace);
    this.#session = new SqliteSession(connection);
  }

  survey(call: Call = {}): Promise<CatalogueSurvey> {
    return this.#session.read('surveying the store', call, () => {
      const count = this.#count.get()?.[0] ?? 0n;
      const keys = createHash('sha256').update(this.#readKeys.all().join('\n')).digest('hex');
      return {
        empty: this.#isEmpty.get()?.[0] === 1n,
        pets: Number(count),
        lastId: this.#lastId.get()?.[0] ?? 0n,
        revision: `${count} ${keys}`,
      };
    });
  }

  async readPets({ after = 0n, limit }: PetBatch, call: Call = {}): Promise<readonly Pet[]> {
    // Reading is synchronous: batch after batch, nothing else in this process would get its turn.
    await setImmediate();
    return this.#session.read('reading animals', call, () =>
      after >= INT64_MAX ? [] : this.#readPets.all(after, limit).map(toPet),
    );
  }

  writePets(pets: readonly Pet[], call: Call = {}): Promise<void> {
    const rows = pets.map(({ id, name, categoryId, status }) => [id, name, categoryId, status] as const);
    return this.#session.write('writing animals', call, () => {
      for (const row of rows) this.#writePet.run(...row);
    });
  }

  readClaims({ after, limit, now }: ClaimBatch, call: Call = {}): Promise<readonly KeptClaim[]> {
    const [scope, token] = after ? [writeText(after.scope), writeText(after.token)] : ['', ''];
    const time = BigInt(now.getTime());
    return this.#session.read('reading claims', call, () =>
      this.#readClaims.all(scope, token, time, limit).map(toClaim),
    );
  }

  writeClaims(claims: readonly KeptClaim[], call: Call = {}): Promise<void> {
    const rows = claims.map(toClaimRow);
    return this.#session.write('writing claims', call, () => {
      for (const row of rows) this.#writeClaim.run(...row);
    });
  }

  readApiKeys(call: Call = {}): Promise<readonly ApiKeyRecord[]> {
    return this.#session.read('reading keys', call, () => this.#readKeys.all().map(toRecord).sort(byAge));
  }

  writeApiKeys(keys: readonly ApiKeyRecord[], call: Call = {}): Promise<void> {
    const rows = keys.map(toColumns);
    return this.#session.write('writing keys', call, () => {
      for (const { id, name, hash, scopes, createdAt, expiresAt, revokedAt, replacedBy } of rows)
        this.#writeKey.run(id, name, hash, scopes, createdAt, expiresAt, revokedAt, replacedBy);
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

const toClaim = ([scope, token, fingerprint, petId, keepUntil]: ClaimRow): KeptClaim => ({
  scope: readText(scope),
  token: readText(token),
  fingerprint: readText(fingerprint),
  petId,
  keepUntil: new Date(Number(keepUntil)),
});

const toClaimRow = ({ scope, token, fingerprint, petId, keepUntil }: KeptClaim): ClaimRow => [
  writeText(scope),
  writeText(token),
  writeText(fingerprint),
  petId,
  BigInt(keepUntil.getTime()),
];
