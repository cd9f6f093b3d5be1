import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { notices, type CompleteStore, type OpenOptions } from '../../application/ports/store.js';
import { UnavailableError } from '../../domain/errors.js';
import { isBusy, isFull, retryWhileBusy } from './busy.js';
import { APPLICATION_ID, openUnchanged, requireSound, requireUpgraded, upgradeSchema } from './schema.js';
import { sqliteApiKeys } from './sqlite-api-key-repository.js';
import { sqliteTransfer } from './sqlite-catalogue-transfer.js';
import { SqliteConnection } from './sqlite-connection.js';
import { sqliteChanges } from './sqlite-pet-changes.js';
import { sqlitePets } from './sqlite-pet-repository.js';
import {
  findOrCreateFile,
  makePrivate,
  OTHER_FILE,
  requireOneName,
  RESTORE,
  StoreFileError,
} from './store-file.js';

/**
 * Opens the store in the file at `path`, relative to the working directory. A file that does not exist is created, with
 * its folders, for the user of this process alone. Any number of processes may have the same file open, but only one
 * thread of each. Files ending in `-wal` and `-shm` stand beside it while it is open. `location` is its absolute path.
 * A call waits up to five seconds for another process's lock, or until its signal is aborted.
 * @throws {StoreFileError} the file cannot be a store of this program. It was not changed.
 * @throws {UnavailableError} another process kept the file locked.
 */
export async function openSqliteStore(path: string, options: OpenOptions = {}): Promise<CompleteStore> {
  let file = resolve(path);
  try {
    file = await findOrCreateFile(file, options.mustExist ?? options.readOnly ?? false);
    const onLongWait = () => notices(options)(`waiting: another process has locked ${file}`);
    return await retryWhileBusy('opening the store', onLongWait, undefined, () =>
      openFile(file, onLongWait, options),
    );
  } catch (error) {
    throw openingError(file, error);
  }
}

/** The log grows as long as another connection reads an old state. Then it is cut to this many bytes. */
const LOG_SIZE = 16 * 2 ** 20;

function openFile(file: string, onLongWait: () => void, options: OpenOptions): CompleteStore {
  const { readOnly = false, snapshot = false } = options;
  const empty = isEmpty(file, options);
  if (!readOnly) {
    requireOneName(file);
    accessSync(file, constants.W_OK); // or SQLite would open it for reading only
  }
  if (!empty) checkContent(file);
  if (!readOnly) makePrivate(file);
  const hasLog = existsSync(`${file}-wal`);
  const database = readOnly ? openUnchanged(file) : new DatabaseSync(file, { timeout: 0 });
  try {
    if (readOnly) {
      database.exec('PRAGMA query_only = ON');
      requireUpgraded(database, file);
      if (snapshot) database.exec('BEGIN'); // until the store is closed
    } else {
      // One page, written at once. Without a journal file, a crash leaves nothing that has to be rolled back.
      if (empty) database.exec(`PRAGMA journal_mode = MEMORY; PRAGMA application_id = ${APPLICATION_ID}`);
      database.exec('PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL; PRAGMA trusted_schema = OFF');
      database.exec(`PRAGMA journal_size_limit = ${LOG_SIZE}`);
      upgradeSchema(database, file, notices(options));
      if (hasLog) syncLog(database);
    }
    const connection = new SqliteConnection(database, file, onLongWait);
    return {
      pets: sqlitePets(connection),
      apiKeys: sqliteApiKeys(connection),
      transfer: sqliteTransfer(connection),
      changes: sqliteChanges(connection),
      location: file,
      close: () => connection.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Brings the log to the disk. A process that died in a commit may have left it there unsynced. It is read as committed,
 * and a retry of the create would acknowledge it without another sync.
 */
function syncLog(database: DatabaseSync): void {
  try {
    database.exec('PRAGMA wal_checkpoint');
  } catch (error) {
    // On a full disk the file cannot grow, but the log was synced before.
    if (!isFull(error)) throw error;
  }
}

/** Whether the file is new: another process may have created it a moment ago. */
function isEmpty(file: string, { readOnly = false, mustExist = readOnly }: OpenOptions): boolean {
  // Looked for first: a process that is creating the store writes the log after the file.
  const hasLog = existsSync(`${file}-wal`);
  const stats = statSync(file);
  if (!stats.isFile()) throw new StoreFileError(file, `is not a regular file: ${OTHER_FILE}`);
  if (stats.size > 0) return false;
  if (hasLog) throw new StoreFileError(file, `is empty, but ${file}-wal exists: ${RESTORE}`);
  if (mustExist) throw new StoreFileError(file, 'is empty: name the file of a store');
  return true;
}

/** Up to this many bytes a file is read completely before it is used: some 100 ms at most. */
const CHECKED_SIZE = 64 * 2 ** 20;

/** Checks whose file it is, its version and its pages. */
function checkContent(file: string): void {
  const database = openUnchanged(file);
  try {
    if (statSync(file).size <= CHECKED_SIZE) requireSound(database, file);
  } finally {
    database.close();
  }
}

/** Errors of SQLite, the file system and Node.js, with the file and what to do about them. */
function openingError(file: string, error: unknown): unknown {
  const cause = error instanceof UnavailableError ? error.cause : error;
  if (isBusy(cause) || !(cause instanceof Error)) return error;
  // `permission`: refused by Node.js's permission model.
  if (!['errcode', 'syscall', 'permission'].some((property) => property in cause)) return error;
  const advice = `make sure that it is a sound store and can be written, or ${OTHER_FILE}`;
  return new StoreFileError(file, `cannot be used (${cause.message}): ${advice}`, { cause });
}
