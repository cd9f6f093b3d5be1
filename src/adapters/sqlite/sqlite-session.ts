import type { Call } from '../../application/animal-store.js';
import { UnavailableError } from '../../domain/errors.js';
import { retryWhileBusy } from './busy-retry.js';
import type { SqliteConnection } from './sqlite-connection.js';

/** One repository's use of a connection: until it is closed, which is safe to do twice. */
export class SqliteSession {
  readonly #connection: SqliteConnection;
  #closed: Promise<void> | undefined;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    connection.retain();
  }

  /** Reads at once, or as soon as no other connection is in the way. */
  read<Result>(doing: string, { signal }: Call, run: () => Result): Promise<Result> {
    return retryWhileBusy(doing, { signal, busyTimeout: this.#connection.busyTimeout }, () => {
      if (this.#closed !== undefined) throw new Error('the repository is closed');
      return run();
    });
  }

  /** Writes in a transaction shared with others (`GroupCommit`): resolves when it is on the disk. */
  async write<Result>(doing: string, { signal }: Call, run: () => Result): Promise<Result> {
    signal?.throwIfAborted();
    if (this.#closed !== undefined) throw new UnavailableError(`${doing} after close`);
    return this.#connection.writes.submit(doing, signal, run);
  }

  close(): Promise<void> {
    this.#closed ??= this.#connection.release();
    return this.#closed;
  }
}
