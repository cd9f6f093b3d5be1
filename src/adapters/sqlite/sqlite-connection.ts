import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { CallOptions } from '../../application/animal-store.js';
import { requireWriting, type OpenMode } from '../../application/ports/store.js';
import { UnavailableError } from '../../domain/errors.js';
import { retryWhileBusy } from './busy.js';
import { GroupCommit } from './group-commit.js';
import { inPlaceChecker } from './in-place-checker.js';

/**
 * A prepared statement. Its rows are arrays in the order of the columns, with integers as bigints. STRICT tables and
 * their checks guarantee the types.
 */
export interface Statement<Row extends readonly SQLOutputValue[] = never> {
  get(...parameters: SQLInputValue[]): Row | undefined;
  all(...parameters: SQLInputValue[]): Row[];
  run(...parameters: SQLInputValue[]): {
    readonly changes: bigint;
    readonly lastInsertRowid: bigint;
  };
}

/** The one connection of a store, shared by its ports. */
export class SqliteConnection {
  /** Keep this reference: when the database object is garbage collected, its statements stop working. */
  readonly #database: DatabaseSync;
  readonly #onLongWait: () => void;
  readonly #writes: GroupCommit;
  readonly #requireInPlace: () => void;
  readonly #mode: OpenMode;
  #closed: Promise<void> | undefined;

  constructor(
    database: DatabaseSync,
    file: string,
    { mode, onLongWait }: { readonly mode: OpenMode; readonly onLongWait: () => void },
  ) {
    this.#mode = mode;
    this.#database = database;
    this.#onLongWait = onLongWait;
    this.#requireInPlace = inPlaceChecker(file);
    this.#writes = new GroupCommit(database, this.#requireInPlace, onLongWait);
  }

  prepare<Row extends readonly SQLOutputValue[] = never>(sql: string): Statement<Row> {
    const statement = this.#database.prepare(sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    // Its own types ignore these two settings.
    return statement as unknown as Statement<Row>;
  }

  /** Reads, and waits for locks as `retryWhileBusy` does. */
  read<Result>(doing: string, call: CallOptions | undefined, run: () => Result): Promise<Result> {
    return retryWhileBusy(doing, { ...call, onLongWait: this.#onLongWait }, () => {
      this.#requireOpen(doing);
      return run();
    });
  }

  /** Writes as `GroupCommit` does, in a transaction shared with other writes. Resolves when it is on the disk. */
  async write<Result>(
    doing: string,
    call: CallOptions | undefined,
    run: () => Result,
  ): Promise<Result> {
    call?.signal?.throwIfAborted();
    this.#requireOpen(doing);
    // Refused before it begins: a failed write would end the transaction that keeps a snapshot.
    requireWriting(this.#mode, doing);
    return this.#writes.submit(doing, call?.signal, run);
  }

  /** Reads, if the file is still in its place. After a failed write it also tests writing. */
  async check(call?: CallOptions): Promise<void> {
    const doing = 'checking the store';
    await this.read(doing, call, () => {
      this.#requireInPlace();
      this.#database.exec('SELECT id FROM pets LIMIT 1');
    });
    // A large table, which needs new pages: a small one may fit into free pages of the file although the disk is full.
    const probe = 'CREATE TABLE probe AS SELECT zeroblob(16384); DROP TABLE probe';
    if (this.#writes.failing) await this.write(doing, call, () => this.#database.exec(probe));
  }

  /** Refuses new calls, and closes when the writes in progress are settled, within five seconds. Safe to call twice. */
  close(): Promise<void> {
    // The last connection to a file moves the log into it. If it cannot, the next one to open it finds the log.
    this.#closed ??= this.#writes.drain().then(() => this.#database.close());
    return this.#closed;
  }

  #requireOpen(doing: string): void {
    if (this.#closed !== undefined) throw new UnavailableError(`${doing} after close`);
  }
}
