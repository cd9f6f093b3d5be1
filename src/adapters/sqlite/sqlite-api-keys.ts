import type { ApiKeyRecord, ApiKeyRepository } from '../../application/ports/api-key-repository.js';
import type { SqliteConnection } from './sqlite-connection.js';

/** Managed API keys in an SQLite file, as JSON. */
export function sqliteApiKeys(connection: SqliteConnection): ApiKeyRepository {
  const sql = {
    insert: connection.prepare(
      'INSERT INTO api_keys (id, record) VALUES (?, ?) ON CONFLICT (id) DO NOTHING',
    ),
    find: connection.prepare<[string]>('SELECT record FROM api_keys WHERE id = ?'),
    list: connection.prepare<[string]>(
      "SELECT record FROM api_keys ORDER BY record ->> 'createdAt'",
    ),
    // json_insert does not overwrite: the time of the first revocation stays.
    revoke: connection.prepare<[string]>(
      `UPDATE api_keys SET record = json_insert(record, '$.revokedAt', ?) WHERE id = ?
      RETURNING record`,
    ),
  };

  return {
    add: (apiKey, options) =>
      connection.write(
        'adding an API key',
        options,
        () => sql.insert.run(apiKey.id, JSON.stringify(apiKey)).changes > 0n,
      ),

    findById: (id, options) =>
      connection.read('reading an API key', options, () => {
        const row = sql.find.get(id);
        return row && parseRecord(row);
      }),

    list: (options) =>
      connection.read('listing API keys', options, () => sql.list.all().map(parseRecord)),

    revoke: (id, at, options) =>
      connection.write('revoking an API key', options, () => {
        const row = sql.revoke.get(at, id);
        return row && parseRecord(row);
      }),
  };
}

const parseRecord = ([record]: [string]): ApiKeyRecord => JSON.parse(record);
