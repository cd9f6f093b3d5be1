/* Opens the file of a store, and checks it. */

import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { BUSY_TIMEOUT } from './retry-while-busy.js';
import { createSchema, requireStore, type RequireStoreOptions } from './schema.js';
import { hasCode } from './sqlite-errors.js';
import { syncFile, syncFolder } from './store-file.js';
import { StoreFileError } from './store-file-error.js';

/** Opens the store to read. All reads see the snapshot of the first. */
export function openSnapshot(file: string): DatabaseSync {
  const database = openToRead(file);
  database.exec('BEGIN');
  return database;
}

export function openToWrite(file: string, create: boolean): DatabaseSync {
  refuseForeignFile(file, { mayBeEmpty: create });
  return openDatabase(file, { readOnly: false }, (database) => {
    if (create) createSchema(database);
    requireStore(database, file);
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA journal_size_limit = 16777216; -- bytes: cuts a log that grew while another process read an old snapshot
      PRAGMA trusted_schema = OFF; -- a schema that others have changed can call no unsafe functions
      PRAGMA temp_store = MEMORY; -- no temporary files
    `);
    syncLog(file);
  });
}

/** Refuses a foreign file through a connection that cannot change it. */
function refuseForeignFile(file: string, options: RequireStoreOptions): void {
  try {
    openToRead(file, options).close();
  } catch (error) {
    // After a crash, only a connection that writes can recover the log or journal: it checks the file again.
    if (!hasCode(error, 'READONLY')) throw error;
  }
}

/**
 * A process may have died before it synced the log. A retry would find its animal there, and acknowledge what a power
 * cut can still lose. A checkpoint would sync the log, too, but not while another process reads an old snapshot.
 */
function syncLog(file: string): void {
  const log = `${file}-wal`;
  if (!fs.existsSync(log)) return;
  syncFile(log);
  syncFolder(dirname(log));
}

/** @throws {StoreFileError} there is no file, or it is no store */
export function openToRead(file: string, options?: RequireStoreOptions): DatabaseSync {
  if (!fs.existsSync(file))
    throw new StoreFileError(file, 'does not exist: name the file of a store');
  return openDatabase(file, { readOnly: true }, (database) =>
    requireStore(database, file, options),
  );
}

/** Opens a database, and closes it again if `setUp` fails. */
function openDatabase(
  file: string,
  { readOnly }: { readonly readOnly: boolean },
  setUp: (database: DatabaseSync) => void,
): DatabaseSync {
  const database = new DatabaseSync(file, {
    readOnly,
    timeout: BUSY_TIMEOUT,
    readBigInts: true,
    returnArrays: true,
  });
  try {
    setUp(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
