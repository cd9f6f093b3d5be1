import * as fs from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { openModeOf, type CompleteStore, type OpenOptions } from '../../application/ports/store.js';
import { inPlaceCheck, requireOwnLog } from './file-identity.js';
import { BUSY_TIMEOUT, retryWhileBusy } from './retry-while-busy.js';
import { createSchema, requireStore } from './schema.js';
import { sqliteApiKeys } from './sqlite-api-keys.js';
import { sqliteConnection } from './sqlite-connection.js';
import { hasCode } from './sqlite-errors.js';
import { sqlitePetChanges } from './sqlite-pet-changes.js';
import { sqlitePets } from './sqlite-pets.js';
import { sqliteTransfer } from './sqlite-transfer.js';
import { createFile, filePath } from './store-file.js';
import { StoreFileError, usingFile } from './store-file-error.js';

/** How long commits trust a check of the file, in milliseconds. */
const CHECK_MAX_AGE = 1000;

/**
 * Opens the store in the file at `path`. Mode `create` creates a missing file, with its folders, for the user of this
 * process alone. Any number of processes may have the same file open. `location` is its absolute path.
 * @throws {TypeError} the mode does not exist, or `path` is no string.
 * @throws {StoreFileError} the file cannot be opened, or is no store of this program. It was not changed.
 * @throws {UnavailableError} another process kept the file locked for five seconds.
 */
export async function openSqliteStore(
  path: string,
  options: OpenOptions = {},
): Promise<CompleteStore> {
  const mode = openModeOf(options);
  const file = filePath(path);
  return usingFile(file, 'cannot be used', async () => {
    requireOwnLog(file);
    if (mode === 'create') createFile(file);
    const requireInPlace = inPlaceCheck(file); // before opening, so that a file swapped meanwhile is refused
    const database = await retryWhileBusy('opening the store', undefined, () =>
      mode === 'read' ? openSnapshot(file) : openToWrite(file, mode === 'create'),
    );
    const connection = sqliteConnection(database, mode, () => requireInPlace(CHECK_MAX_AGE));
    return {
      pets: sqlitePets(connection),
      changes: sqlitePetChanges(connection),
      apiKeys: sqliteApiKeys(connection),
      transfer: sqliteTransfer(connection),
      location: file,
      check: (callOptions) =>
        connection.read('checking the store', callOptions, () => {
          requireInPlace(0);
          database.exec('SELECT id FROM pets LIMIT 1');
        }),
      close: connection.close,
      [Symbol.asyncDispose]: connection.close,
    };
  });
}

/** All reads see one snapshot: that of the first read. */
function openSnapshot(file: string): DatabaseSync {
  const database = openToRead(file);
  database.exec('BEGIN');
  return database;
}

function openToWrite(file: string, mayBeEmpty: boolean): DatabaseSync {
  try {
    // Refuses a foreign file through a connection that cannot change it.
    openToRead(file, mayBeEmpty).close();
  } catch (error) {
    // After a crash, only a connection that writes can recover the log or journal.
    if (!hasCode(error, 'READONLY')) throw error;
  }
  return connect(file, false, (database) => {
    requireStore(database, file, mayBeEmpty); // the first check of a file that had to be recovered
    // journal_size_limit, in bytes, cuts a log that grew while another process read an old snapshot.
    database.exec(`
      PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 16777216;
      PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;
    `);
    if (mayBeEmpty) createSchema(database);
    requireStore(database, file); // another program may have filled an empty file
    try {
      // The log of a process that died may be unsynced: a checkpoint syncs it before it copies.
      database.exec('PRAGMA wal_checkpoint');
    } catch (error) {
      // The disk is full: the log is synced, only the copying failed.
      if (!hasCode(error, 'FULL')) throw error;
    }
  });
}

/** @throws {StoreFileError} there is no file, or it is no store */
export function openToRead(file: string, mayBeEmpty = false): DatabaseSync {
  if (!fs.existsSync(file))
    throw new StoreFileError(file, 'does not exist: name the file of a store');
  return connect(file, true, (database) => requireStore(database, file, mayBeEmpty));
}

/** Opens and prepares a connection. Its rows are arrays, with integers as bigints. */
function connect(file: string, readOnly: boolean, prepare: (database: DatabaseSync) => void) {
  const database = new DatabaseSync(file, {
    readOnly,
    timeout: BUSY_TIMEOUT,
    readBigInts: true,
    returnArrays: true,
  });
  try {
    prepare(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
