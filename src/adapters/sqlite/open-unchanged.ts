import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { readPragma, schemaVersion } from './schema.js';
import { RESTORE, StoreFileError } from './store-file.js';

/**
 * Opens the store in a file, and leaves the file as it is. With a log or a journal beside it, the connection is read-only:
 * one that may write would merge them into the file when it closes. Without one it is not: SQLite would leave an empty
 * log behind. In a folder that cannot be written SQLite cannot make a log: it reads the file as one that never changes.
 * @throws {StoreFileError} the database is not a store, or one of a newer version
 */
export function openUnchanged(file: string): DatabaseSync {
  const hasLog = [`${file}-wal`, `${file}-journal`].some(existsSync);
  const isFixed = !hasLog && !isWritable(dirname(file));
  // https://sqlite.org/uri.html#uriimmutable
  const immutable = new URL(`${pathToFileURL(file).href}?immutable=1`);
  const database = new DatabaseSync(isFixed ? immutable : file, {
    readOnly: hasLog || isFixed,
    timeout: 0,
  });
  try {
    database.exec('PRAGMA trusted_schema = OFF');
    schemaVersion(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Up to this many bytes a file is read completely before it is used: some 100 ms at most. */
const CHECKED_SIZE = 64 * 2 ** 20;

/** Checks whose file it is, its version and its pages, before anything changes it. */
export function checkContent(file: string): void {
  using database = openUnchanged(file);
  if (statSync(file).size <= CHECKED_SIZE) requireSound(database, file);
}

/** Reads every page. @throws {StoreFileError} the pages contradict each other */
export function requireSound(database: DatabaseSync, file: string): void {
  const finding = readPragma(database, 'quick_check');
  if (finding !== 'ok')
    throw new StoreFileError(file, `is damaged (${String(finding)}): ${RESTORE}`);
}
