import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  isReading,
  notices,
  requireOpenMode,
  type CompleteStore,
  type OpenMode,
  type OpenOptions,
} from '../../application/ports/store.js';
import { retryWhileBusy } from './busy.js';
import { checkPages, openUnchanged, undoUnfinishedWrite } from './open-unchanged.js';
import { APPLICATION_ID, createSchema, requireSchema } from './schema.js';
import { sqliteApiKeys } from './sqlite-api-key-repository.js';
import { sqliteTransfer } from './sqlite-catalogue-transfer.js';
import { SqliteConnection } from './sqlite-connection.js';
import { isFull } from './sqlite-errors.js';
import { sqliteChanges } from './sqlite-pet-changes.js';
import { sqlitePets } from './sqlite-pet-repository.js';
import {
  findFile,
  findOrCreateFile,
  hasContent,
  requireStoreFile,
  requireWritable,
} from './store-file.js';
import { OTHER_FILE, StoreFileError, storeFileError } from './store-file-error.js';
import { CLEAN_PATH, isStorePath } from './store-path.js';

/**
 * Opens the store in the file at `path`, relative to the working directory. A file that does not exist is created, with
 * its folders, for the user of this process alone. Any number of processes may have the same file open, but only one
 * thread of each. Files ending in `-wal` and `-shm` stand beside it while it is open. `location` is its absolute path.
 * A call waits at most five seconds for another process's lock, or until its signal is aborted.
 * @throws {TypeError} the mode does not exist.
 * @throws {StoreFileError} the file cannot be a store of this program. It was not changed.
 * @throws {UnavailableError} another process kept the file locked.
 */
export async function openSqliteStore(
  path: string,
  options: OpenOptions = {},
): Promise<CompleteStore> {
  const { mode = 'create', onNotice } = options;
  requireOpenMode(mode);
  const notice = notices({ onNotice });
  requireStorePath(path);
  let file = resolve(path);
  const onLongWait = (): void => notice(`waiting: another process has locked ${file}`);
  try {
    file = mode === 'create' ? await findOrCreateFile(file) : findFile(file);
    const open = (): CompleteStore => openFile(file, mode, onLongWait);
    return await retryWhileBusy('opening the store', { onLongWait }, open);
  } catch (error) {
    const advice = `make sure that it is a sound store and can be written, or ${OTHER_FILE}`;
    throw storeFileError(file, error, (reason) => `cannot be used (${reason}): ${advice}`);
  }
}

function requireStorePath(path: string): void {
  if (path.startsWith('sqlite:'))
    throw new StoreFileError(path, 'is a URL: give the path in it alone');
  if (!isStorePath(path)) throw new StoreFileError(JSON.stringify(path), NO_PATH);
}

const NO_PATH =
  `is no path of a store: name a file, ${CLEAN_PATH}. ` +
  'For a store in memory, use animal-store/memory';

function openFile(file: string, mode: OpenMode, onLongWait: () => void): CompleteStore {
  requireStoreFile(file);
  const isNew = !hasContent(file);
  if (isNew && mode !== 'create')
    throw new StoreFileError(file, 'is empty: name the file of a store');
  const database = isReading(mode) ? openUnchanged(file) : openToWrite(file, isNew);
  try {
    if (isReading(mode)) prepareReading(database, file, mode);
    else prepareWriting(database, file, isNew);
    const connection = new SqliteConnection(database, file, { mode, onLongWait });
    return {
      pets: sqlitePets(connection),
      apiKeys: sqliteApiKeys(connection),
      transfer: sqliteTransfer(connection),
      changes: sqliteChanges(connection),
      location: file,
      check: (call) => connection.check(call),
      close: () => connection.close(),
      [Symbol.asyncDispose]() {
        return this.close();
      },
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

function prepareReading(database: DatabaseSync, file: string, mode: OpenMode): void {
  checkPages(database, file);
  database.exec('PRAGMA query_only = ON');
  requireSchema(database, file);
  if (mode === 'snapshot') database.exec('BEGIN'); // until the store is closed
}

/** Opens a file to write. An existing one is first checked without changing it. */
function openToWrite(file: string, isNew: boolean): DatabaseSync {
  requireWritable(file);
  if (!isNew) {
    undoUnfinishedWrite(file);
    using unchanged = openUnchanged(file);
    checkPages(unchanged, file);
  }
  return new DatabaseSync(file, { timeout: 0 });
}

/** The log grows while another connection reads an old state. After that, SQLite cuts it to this many bytes. */
const LOG_SIZE = 16 * 2 ** 20;

function prepareWriting(database: DatabaseSync, file: string, isNew: boolean): void {
  // Marks a new file as a store. SQLite writes that one page in one step, so a crash can leave no half of it. Without a
  // journal file, a crash leaves nothing to roll back.
  if (isNew)
    database.exec(`PRAGMA journal_mode = MEMORY; PRAGMA application_id = ${APPLICATION_ID}`);
  database.exec(`
    PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL; PRAGMA trusted_schema = OFF;
    PRAGMA journal_size_limit = ${LOG_SIZE};
  `);
  createSchema(database, file);
  // A process that died in a commit may have written the log without syncing it. SQLite reads that as committed, so a
  // retry of the create would acknowledge what is not on the disk. A checkpoint syncs the log first.
  if (!isNew) unlessFull(() => database.exec('PRAGMA wal_checkpoint'));
  emptyStatistics(database);
}

/**
 * Ensures that the table of statistics exists and is empty. With those that ANALYZE of another tool made of one animal,
 * SQLite would scan millions. The table must exist, because SQLite reads it when the schema changes: filling an existing
 * table changes no schema. So a tool that runs ANALYZE under a running service changes none of its plans.
 * https://sqlite.org/optoverview.html#manual_control_of_query_plans_using_sqlite_stat_tables
 */
function emptyStatistics(database: DatabaseSync): void {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'").get();
  if (table && database.prepare('SELECT 1 FROM sqlite_stat1').get() === undefined) return;
  // ANALYZE of the schema alone makes the table, and writes no row into it.
  unlessFull(() => database.exec('DROP TABLE IF EXISTS sqlite_stat1; ANALYZE sqlite_schema'));
}

/** On a full disk the file cannot grow, but the log was synced before, and what is stored can be read. */
function unlessFull(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!isFull(error)) throw error;
  }
}
