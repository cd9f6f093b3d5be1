import type { Call } from '../../application/call.js';
import {
  byAge,
  type ApiKeyRecord,
  type ApiKeyRepository,
} from '../../application/ports/api-key-repository.js';
import { isScope, type Scope } from '../../application/ports/authenticator.js';
import { readText, writeText } from './exact-text.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { SqliteSession } from './sqlite-session.js';

const COLUMNS = 'id, name, hash, scopes, created_at, expires_at, revoked_at, replaced_by';

const INSERT = `INSERT INTO api_keys (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id)`;

export const API_KEY_SQL = {
  insert: `${INSERT} DO NOTHING`,
  replace: `${INSERT} DO UPDATE SET name = excluded.name, hash = excluded.hash, scopes = excluded.scopes,
    created_at = excluded.created_at, expires_at = excluded.expires_at, revoked_at = excluded.revoked_at,
    replaced_by = excluded.replaced_by`,
  find: `SELECT ${COLUMNS} FROM api_keys WHERE id = ?`,
  list: `SELECT ${COLUMNS} FROM api_keys ORDER BY id`,
  update:
    'UPDATE api_keys SET name = ?, scopes = ?, expires_at = ?, revoked_at = ?, replaced_by = ? WHERE id = ?',
} as const;

export type KeyRow = readonly [
  id: string,
  name: string,
  hash: string,
  scopes: string,
  createdAt: bigint,
  expiresAt: bigint | null,
  revokedAt: bigint | null,
  replacedBy: string | null,
];

/** Managed keys in an SQLite file, as hashes: what was answered is on the disk and seen by every process. */
export class SqliteApiKeyRepository implements ApiKeyRepository {
  readonly #session: SqliteSession;
  readonly #insert;
  readonly #find;
  readonly #list;
  readonly #update;

  constructor(connection: SqliteConnection) {
    this.#insert = connection.prepare(API_KEY_SQL.insert);
    this.#find = connection.prepare<KeyRow>(API_KEY_SQL.find);
    this.#list = connection.prepare<KeyRow>(API_KEY_SQL.list);
    this.#update = connection.prepare(API_KEY_SQL.update);
    this.#session = new SqliteSession(connection);
  }

  async add(key: ApiKeyRecord, call: Call = {}): Promise<boolean> {
    const { id, name, hash, scopes, createdAt, expiresAt, revokedAt, replacedBy } = toColumns(key);
    return this.#session.write('adding a key', call, () => {
      const { changes } = this.#insert.run(
        id,
        name,
        hash,
        scopes,
        createdAt,
        expiresAt,
        revokedAt,
        replacedBy,
      );
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

  update(
    id: string,
    change: (key: ApiKeyRecord) => ApiKeyRecord,
    call: Call = {},
  ): Promise<ApiKeyRecord | undefined> {
    return this.#session.write('changing a key', call, () => {
      const key = this.#read(id);
      if (key === undefined) return undefined;
      const changed = { ...change(key), id, hash: key.hash, createdAt: key.createdAt };
      const { name, scopes, expiresAt, revokedAt, replacedBy } = toColumns(changed);
      this.#update.run(name, scopes, expiresAt, revokedAt, replacedBy, writeText(id));
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
  replacedBy: key.replacedBy === undefined ? null : writeText(key.replacedBy),
});

export const toRecord = ([
  id,
  name,
  hash,
  scopes,
  createdAt,
  expiresAt,
  revokedAt,
  replacedBy,
]: KeyRow): ApiKeyRecord => ({
  id: readText(id),
  name: readText(name),
  hash,
  scopes: readScopes(scopes),
  createdAt: new Date(Number(createdAt)),
  ...(expiresAt !== null && { expiresAt: new Date(Number(expiresAt)) }),
  ...(revokedAt !== null && { revokedAt: new Date(Number(revokedAt)) }),
  ...(replacedBy !== null && { replacedBy: readText(replacedBy) }),
});

const readScopes = (text: string): Scope[] => {
  const scopes: unknown = JSON.parse(text);
  return Array.isArray(scopes) ? scopes.filter(isScope) : [];
};
