import {
  byAge,
  type ApiKeyRecord,
  type ApiKeyRepository,
} from '../../application/ports/api-key-repository.js';
import type { SqliteConnection } from './sqlite-connection.js';

const COLUMNS = 'id, name, hash, scopes, created_at, expires_at, revoked_at';

/** Times are milliseconds since 1970. */
type ApiKeyRow = readonly [string, string, string, string, bigint, bigint | null, bigint | null];

/** Managed API keys in an SQLite file, as hashes. Every process on the file sees an acknowledged change. */
export function sqliteApiKeys(connection: SqliteConnection): ApiKeyRepository {
  const sql = {
    insert: connection.prepare(
      `INSERT INTO api_keys (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    ),
    find: connection.prepare<ApiKeyRow>(`SELECT ${COLUMNS} FROM api_keys WHERE id = ?`),
    list: connection.prepare<ApiKeyRow>(`SELECT ${COLUMNS} FROM api_keys`),
    revoke: connection.prepare(
      'UPDATE api_keys SET revoked_at = min(ifnull(revoked_at, ?1), ?1) WHERE id = ?2',
    ),
  };
  const find = (id: string): ApiKeyRecord | undefined => sql.find.all(id).map(toRecord)[0];
  return {
    add: (apiKey, call) =>
      connection.write(
        'adding an API key',
        call,
        () => sql.insert.run(...toRow(apiKey)).changes > 0n,
      ),

    findById: (id, call) => connection.read('reading an API key', call, () => find(id)),

    // Sorted here, because SQLite compares text by code point.
    list: (call) =>
      connection.read('listing API keys', call, () => sql.list.all().map(toRecord).sort(byAge)),

    revoke: (id, at, call) =>
      connection.write('revoking an API key', call, () => {
        sql.revoke.run(at, id);
        return find(id);
      }),
  };
}

const toRow = ({ id, name, hash, scopes, createdAt, expiresAt, revokedAt }: ApiKeyRecord) =>
  [
    id,
    name,
    hash,
    JSON.stringify(scopes),
    createdAt,
    expiresAt ?? null,
    revokedAt ?? null,
  ] as const;

const toRecord = ([
  id,
  name,
  hash,
  scopes,
  createdAt,
  expiresAt,
  revokedAt,
]: ApiKeyRow): ApiKeyRecord => ({
  id,
  name,
  hash,
  scopes: JSON.parse(scopes) as string[],
  createdAt: Number(createdAt),
  ...(expiresAt !== null && { expiresAt: Number(expiresAt) }),
  ...(revokedAt !== null && { revokedAt: Number(revokedAt) }),
});
