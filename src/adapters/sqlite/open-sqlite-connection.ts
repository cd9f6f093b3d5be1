import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UnavailableError } from '../../domain/errors.js';
import { retryWhileBusy } from './busy-retry.js';
import { MIGRATIONS, upgradeSchema } from './schema.js';
import { SqliteConnection } from './sqlite-connection.js';
import { isBusy } from './sqlite-error.js';
import { findOrCreateStoreFile } from './store-file-creation.js';
import { SEE_WRITABLE, StoreFileError, messageOf } from './store-file-error.js';
import { inspectStoreFile, newerSchemaError } from './store-file-inspection.js';
import { fileIdentity } from './store-file.js';

export interface SqliteConnectionOptions {
  /** How long a call without a signal waits for another process's lock, in milliseconds: 5,000 when left out. */
  readonly busyTimeout?: number | undefined;
  /** The store is there already: none is made. */
  readonly mustExist?: boolean | undefined;
  /** The steps of the schema, for tests of upgrading. */
  readonly migrations?: readonly string[] | undefined;
}

/** The files that this process has open, and how often: they must not be inspected (`inspectStoreFile`). */
const openFiles = new Map<string, number>();

/**
 * Opens the store at `path`, relative to the working directory; makes it where there is none, unless it must
 * exist.
 * @throws {StoreFileError} the file cannot be a store of this program.
 * @throws {UnavailableError} another process held the file for longer than `busyTimeout`.
 */
export async function openSqliteConnection(
  path: string,
  { busyTimeout = 5000, mustExist = false, migrations = MIGRATIONS }: SqliteConnectionOptions = {},
): Promise<SqliteConnection> {
  const file = await findOrCreateStoreFile(resolve(path), migrations, { mustExist });
  const forget = inspectAndRemember(file, migrations.length, !mustExist);
  const database = new DatabaseSync(file, { open: false, timeout: 0 });
  const close = (): void => {
    if (database.isOpen) database.close();
    forget();
  };
  try {
    const version = await retryWhileBusy('opening the store', { busyTimeout }, () => {
      if (!database.isOpen) database.open();
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF');
      return upgradeSchema(database, migrations);
    });
    // The header may have been older than the write-ahead log.
    if (version > migrations.length) throw newerSchemaError(file, version, migrations.length);
    return new SqliteConnection(file, database, busyTimeout, close);
  } catch (error) {
    close();
    throw openingError(file, error);
  }
}

/** Inspects the file unless this process has it open already. Returns what to call once it is closed. */
function inspectAndRemember(file: string, newestVersion: number, forWriting: boolean): () => void {
  const identity = fileIdentity(file) ?? file;
  const count = (change: number): number => {
    const opened = (openFiles.get(identity) ?? 0) + change;
    if (opened === 0) openFiles.delete(identity);
    else openFiles.set(identity, opened);
    return opened;
  };
  if (!openFiles.has(identity)) inspectStoreFile(file, newestVersion, { forWriting });
  count(1);
  return () => void count(-1);
}

function openingError(file: string, error: unknown): unknown {
  if (!(error instanceof UnavailableError) || isBusy(error.cause)) return error;
  const { cause } = error;
  return new StoreFileError(file, `cannot be used (${messageOf(cause)}): ${SEE_WRITABLE}`, { cause });
}
