import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';
import { GroupCommit } from './group-commit.js';
import { fileIdentity } from './store-file.js';

/**
 * A prepared statement, to keep and use again. A row is the values in the order of the columns, integers as
 * bigints; STRICT tables and their checks hold every row to its type.
 */
export interface Statement<Row extends readonly SQLOutputValue[] = never> {
  get(...parameters: SQLInputValue[]): Row | undefined;
  all(...parameters: SQLInputValue[]): Row[];
  run(...parameters: SQLInputValue[]): { readonly changes: bigint; readonly lastInsertRowid: bigint };
}

/**
 * The one connection of a store, shared by its repositories (`SqliteSession`); it ends with the last of them.
 * `openSqliteConnection` makes one.
 */
export class SqliteConnection {
  /** Absolute path, without symbolic links. */
  readonly file: string;
  /** How long a call without a signal waits for another process's lock, in milliseconds. */
  readonly busyTimeout: number;
  readonly writes: GroupCommit;
  // Referenced for as long as its statements are: they do not survive it.
  readonly #database: DatabaseSync;
  readonly #close: () => void;
  readonly #identities: ReadonlyMap<string, string | undefined>;
  #sessions = 0;

  /** @param close closes the database and forgets what belongs to it; called once. */
  constructor(file: string, database: DatabaseSync, busyTimeout: number, close: () => void) {
    this.file = file;
    this.busyTimeout = busyTimeout;
    this.#database = database;
    this.#close = close;
    this.#identities = new Map([file, `${file}-wal`].map((path) => [path, fileIdentity(path)]));
    this.writes = new GroupCommit(
      {
        begin: () => {
          this.assertInPlace();
          database.exec('BEGIN IMMEDIATE');
        },
        commit: () => database.exec('COMMIT'),
        rollback: () => this.#rollback(),
      },
      busyTimeout,
    );
  }

  prepare<Row extends readonly SQLOutputValue[] = never>(sql: string): Statement<Row> {
    const statement = this.#database.prepare(sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its types know nothing of the two settings
    return statement as unknown as Statement<Row>;
  }

  /**
   * Throws when the file, or its write-ahead log, is no longer what stands under its name: what is written
   * then goes into a file that nobody will find again. SQLite itself does not notice.
   */
  assertInPlace(): void {
    for (const [path, identity] of this.#identities) {
      if (fileIdentity(path) !== identity) throw new Error(`${path} was removed or replaced`);
    }
  }

  retain(): void {
    this.#sessions += 1;
  }

  /** Waits for the writes that are queued; after the last session's the connection is closed. */
  async release(): Promise<void> {
    await this.writes.drain();
    this.#sessions -= 1;
    if (this.#sessions > 0) return;
    try {
      this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // All that was answered is in the log, on the disk: the next to open the file finds it there.
    } finally {
      this.#close();
    }
  }

  #rollback(): void {
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch {
      // The failure that led here is the one to report. If the transaction still stands, the next begin
      // fails, and leads here again.
    }
  }
}
