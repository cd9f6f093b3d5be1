import * as fs from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import {
  openModeOf,
  type CompleteStore,
  type OpenMode,
  type OpenOptions,
} from '../../application/ports/store.js';
import { BUSY_TIMEOUT, retryWhileBusy } from './busy.js';
import { inPlaceCheck, requireOwnLog } from './file-identity.js';
import { createSchema, requireStore } from './schema.js';
import { sqliteApiKeys } from './sqlite-api-keys.js';
import { sqliteChanges } from './sqlite-changes.js';
import { sqliteConnection } from './sqlite-connection.js';
import { hasCode } from './sqlite-errors.js';
import { sqlitePets } from './sqlite-pets.js';
import { sqliteTransfer } from './sqlite-transfer.js';
import { createFile, filePath } from './store-file.js';
import { StoreFileError, usingFile } from './store-file-error.js';

/** How old the last look at the file may be before a commit, in milliseconds. */
const LONGEST_UNSEEN = 1000;

/**
 * Opens the store in the file at `path`. Mode `create` creates a missing file, with its folders, for the user of this
 * process alone. Any number of processes may have the same file open. `location` is its absolute path.
 * @throws {TypeError} the mode does not exist, or `path` is no string.
 * @throws {StoreFileError} the file cannot be a store of this program. It was not changed.
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
    const requireInPlace = inPlaceCheck(file); // before the opening, so that it never accepts another file
    const database = await retryWhileBusy('opening the store', undefined, () =>
      openDatabase(file, mode),
    );
    const connection = sqliteConnection(database, mode, () => requireInPlace(LONGEST_UNSEEN));
    return {
      pets: sqlitePets(connection),
      changes: sqliteChanges(connection),
      apiKeys: sqliteApiKeys(connection),
      transfer: sqliteTransfer(connection),
      location: file,
      check: (call) =>
        connection.read('checking the store', call, () => {
          requireInPlace(0);
          database.exec('SELECT id FROM pets LIMIT 1');
        }),
      close: connection.close,
      [Symbol.asyncDispose]: connection.close,
    };
  });
}

function openDatabase(file: string, mode: OpenMode): DatabaseSync {
  const mayBeEmpty = mode === 'create';
  try {
    // Looks first on a connection that only reads, which changes nothing in a file that is refused.
    const reader = openToRead(file, mayBeEmpty);
    if (mode === 'read') {
      reader.exec('BEGIN'); // so that all reads show the moment of the first
      return reader;
    }
    reader.close();
  } catch (error) {
    // What a crash has left half written, only a connection that writes can undo.
    if (mode === 'read' || !hasCode(error, 'READONLY')) throw error;
  }
  return connect(file, false, (database) => {
    requireStore(database, file, mayBeEmpty);
    // The limit is in bytes. The log grows while another process reads an old state, and is cut afterwards.
    database.exec(`
      PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 16777216;
      PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;
    `);
    if (mayBeEmpty) createSchema(database);
    requireStore(database, file);
    try {
      // What a process that died left in the log may not be on the disk yet: a checkpoint syncs it.
      database.exec('PRAGMA wal_checkpoint');
    } catch (error) {
      if (!hasCode(error, 'FULL')) throw error; // then the log was synced, and its animals can be read
    }
  });
}

/**
 * Opens a store to read it.
 * @throws {StoreFileError} there is no file, or it is no store
 */
export function openToRead(file: string, mayBeEmpty = false): DatabaseSync {
  requireOwnLog(file);
  if (!fs.existsSync(file))
    throw new StoreFileError(file, 'does not exist: name the file of a store');
  return connect(file, true, (database) => requireStore(database, file, mayBeEmpty));
}

/** Opens and prepares a connection. Its rows are arrays, with integers as bigints. */
function connect(file: string, readOnly: boolean, prepare: (database: DatabaseSync) => void) {
  const format = { readBigInts: true, returnArrays: true };
  const database = new DatabaseSync(file, { readOnly, timeout: BUSY_TIMEOUT, ...format });
  try {
    prepare(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
