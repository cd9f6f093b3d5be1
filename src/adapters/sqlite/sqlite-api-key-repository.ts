import type { Call } from '../../application/animal-store.js';
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
export class SqliteApiKeyRepository implements ApiKeyRepository {
  readonly #connection: SqliteConnection;
  readonly #sql;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#sql = {
      insert: connection.prepare(
        `INSERT INTO api_keys (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
      ),
      find: connection.prepare<ApiKeyRow>(`SELECT ${COLUMNS} FROM api_keys WHERE id = ?`),
      list: connection.prepare<ApiKeyRow>(`SELECT ${COLUMNS} FROM api_keys`),
      revoke: connection.prepare(
        'UPDATE api_keys SET revoked_at = min(ifnull(revoked_at, ?1), ?1) WHERE id = ?2',
      ),
    };
  }

  async add(apiKey: ApiKeyRecord, call: Call = {}): Promise<boolean> {
    // Taken now: the caller may change its dates and scopes while the write is queued.
    const row = toRow(apiKey);
    return this.#connection.write('adding an API key', call, () => this.#sql.insert.run(...row).changes > 0n);
  }

  findById(id: string, call: Call = {}): Promise<ApiKeyRecord | undefined> {
    return this.#connection.read('reading an API key', call, () => this.#findRecord(id));
  }

  list(call: Call = {}): Promise<readonly ApiKeyRecord[]> {
    // Sorted here, because SQLite compares text by code point.
    return this.#connection.read('listing API keys', call, () =>
      this.#sql.list.all().map(toRecord).sort(byAge),
    );
  }

  async revoke(id: string, at: Date, call: Call = {}): Promise<ApiKeyRecord | undefined> {
    const time = BigInt(at.getTime());
    return this.#connection.write('revoking an API key', call, () => {
      this.#sql.revoke.run(time, id);
      return this.#findRecord(id);
    });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #findRecord(id: string): ApiKeyRecord | undefined {
    const row = this.#sql.find.get(id);
    return row && toRecord(row);
  }
}

const time = (date: Date | undefined): bigint | null => (date ? BigInt(date.getTime()) : null);

const toRow = ({ id, name, hash, scopes, createdAt, expiresAt, revokedAt }: ApiKeyRecord) =>
  [id, name, hash, JSON.stringify(scopes), time(createdAt), time(expiresAt), time(revokedAt)] as const;

const toRecord = ([id, name, hash, scopes, createdAt, expiresAt, revokedAt]: ApiKeyRow): ApiKeyRecord => ({
  id,
  name,
  hash,
  scopes: JSON.parse(scopes) as string[],
  createdAt: new Date(Number(createdAt)),
  ...(expiresAt !== null && { expiresAt: new Date(Number(expiresAt)) }),
  ...(revokedAt !== null && { revokedAt: new Date(Number(revokedAt)) }),
});
