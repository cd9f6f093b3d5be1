import type { Call } from '../../application/animal-store.js';
import {
  byAge,
  type ApiKeyRecord,
  type ApiKeyRepository,
} from '../../application/ports/api-key-repository.js';
import { readText, writeText } from './exact-text.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { SqliteSession } from './sqlite-session.js';

const COLUMNS = 'id, name, hash, scopes, created_at, expires_at, revoked_at';

const INSERT = `INSERT INTO api_keys (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id)`;

export const API_KEY_SQL = {
  insert: `${INSERT} DO NOTHING`,
  find: `SELECT ${COLUMNS} FROM api_keys WHERE id = ?`,
  list: `SELECT ${COLUMNS} FROM api_keys ORDER BY id`,
  revoke: 'UPDATE api_keys SET revoked_at = min(ifnull(revoked_at, ?1), ?1) WHERE id = ?2',
} as const;

export type KeyRow = readonly [
  id: string,
  name: string,
  hash: string,
  scopes: string,
  createdAt: bigint,
  expiresAt: bigint | null,
  revokedAt: bigint | null,
];

/** Managed keys in an SQLite file, as hashes: what was answered is on the disk and seen by every process. */
export class SqliteApiKeyRepository implements ApiKeyRepository {
  readonly #session: SqliteSession;
  readonly #insert;
  readonly #find;
  readonly #list;
  readonly #revoke;

  constructor(connection: SqliteConnection) {
    this.#insert = connection.prepare(API_KEY_SQL.insert);
    this.#find = connection.prepare<KeyRow>(API_KEY_SQL.find);
    this.#list = connection.prepare<KeyRow>(API_KEY_SQL.list);
    this.#revoke = connection.prepare(API_KEY_SQL.revoke);
    this.#session = new SqliteSession(connection);
  }

  async add(key: ApiKeyRecord, call: Call = {}): Promise<boolean> {
    const { id, name, hash, scopes, createdAt, expiresAt, revokedAt } = toColumns(key);
    return this.#session.write('adding a key', call, () => {
      const { changes } = this.#insert.run(id, name, hash, scopes, createdAt, expiresAt, revokedAt);
      return changes > 0n;
    });
  }

  findById(id: string, call: Call = {}): Promise<ApiKeyRecord | undefined> {
    return this.#session.read('reading a key', call, () => this.#read(id));
  }

  list(call: Call = {}): Promise<readonly ApiKeyRecord[]> {
    // Sorted here, for SQLite compares text by code point.
    return this.#session.read('listing keys', call, () => this.#list.all().map(toRecord).sort(byAge));
  }

  revoke(id: string, at: Date, call: Call = {}): Promise<ApiKeyRecord | undefined> {
    const time = BigInt(at.getTime());
    return this.#session.write('revoking an API key', call, () => {
      this.#revoke.run(time, writeText(id));
      return this.#read(id);
    });
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  #read(id: string): ApiKeyRecord | undefined {
    const row = this.#find.get(writeText(id));
    return row && toRecord(row);
  }
}

/** The values to keep, taken at once: the caller may change its dates and scopes as soon as it has the promise. */
export const toColumns = (key: ApiKeyRecord) => ({
  id: writeText(key.id),
  name: writeText(key.name),
  hash: key.hash,
  scopes: JSON.stringify(key.scopes),
  createdAt: BigInt(key.createdAt.getTime()),
  expiresAt: key.expiresAt === undefined ? null : BigInt(key.expiresAt.getTime()),
  revokedAt: key.revokedAt === undefined ? null : BigInt(key.revokedAt.getTime()),
});

export const toRecord = ([
  id,
  name,
  hash,
  scopes,
  createdAt,
  expiresAt,
  revokedAt,
]: KeyRow): ApiKeyRecord => ({
  id: readText(id),
  name: readText(name),
  hash,
  scopes: readScopes(scopes),
  createdAt: new Date(Number(createdAt)),
  ...(expiresAt !== null && { expiresAt: new Date(Number(expiresAt)) }),
  ...(revokedAt !== null && { revokedAt: new Date(Number(revokedAt)) }),
});

const readScopes = (text: string): string[] => {
  const scopes: unknown = JSON.parse(text);
  return Array.isArray(scopes) ? scopes.map(String) : [];
};
