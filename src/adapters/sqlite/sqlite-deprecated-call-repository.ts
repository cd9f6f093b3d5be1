import type { Call } from '../../application/call.js';
import {
  byDayOperationAndKey,
  type DeprecatedCallBatch,
  type DeprecatedCallQuery,
  type DeprecatedCallRepository,
  type DeprecatedCalls,
} from '../../application/ports/deprecated-call-repository.js';
import { readText, writeText } from './exact-text.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { SqliteSession } from './sqlite-session.js';

/** The statements, apart from the class so that a test can show their query plans. */
export const DEPRECATED_CALL_SQL = {
  add: `INSERT INTO deprecated_calls (day, operation_id, key_id, calls, last_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (day, operation_id, key_id) DO UPDATE SET
    calls = calls + excluded.calls, last_at = max(last_at, excluded.last_at)`,
  list: 'SELECT day, operation_id, key_id, calls, last_at FROM deprecated_calls WHERE day >= ?',
} as const;

type CountRow = readonly [day: string, operationId: string, keyId: string, calls: bigint, lastAt: bigint];

/**
 * Counts of deprecated calls in an SQLite file. A batch is one transaction: of one that was rejected nothing was
 * added, so that it can be given again without being recognised.
 */
export class SqliteDeprecatedCallRepository implements DeprecatedCallRepository {
  readonly #session: SqliteSession;
  readonly #add;
  readonly #list;

  constructor(connection: SqliteConnection) {
    this.#add = connection.prepare(DEPRECATED_CALL_SQL.add);
    this.#list = connection.prepare<CountRow>(DEPRECATED_CALL_SQL.list);
    this.#session = new SqliteSession(connection);
  }

  record({ counts }: DeprecatedCallBatch, call: Call = {}): Promise<void> {
    // Taken now: what the caller does to its objects while the call is queued changes nothing.
    const rows = counts.map(toRow);
    return this.#session.write('counting deprecated calls', call, () => {
      for (const row of rows) this.#add.run(...row);
    });
  }

  list({ since = '' }: DeprecatedCallQuery = {}, call: Call = {}): Promise<readonly DeprecatedCalls[]> {
    // Sorted here, for SQLite compares text by code point.
    return this.#session.read('listing deprecated calls', call, () =>
      this.#list.all(since).map(toCounts).sort(byDayOperationAndKey),
    );
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

const toRow = ({ day, operationId, keyId, calls, lastAt }: DeprecatedCalls): CountRow => [
  day,
  writeText(operationId),
  writeText(keyId),
  BigInt(calls),
  BigInt(lastAt.getTime()),
];

const toCounts = ([day, operationId, keyId, calls, lastAt]: CountRow): DeprecatedCalls => ({
  day,
  operationId: readText(operationId),
  keyId: readText(keyId),
  calls: Number(calls),
  lastAt: new Date(Number(lastAt)),
});
