import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { readPragma } from './read-pragma.js';
import { schemaVersion } from './schema.js';
import { needsRollback } from './sqlite-errors.js';
import { hasContent } from './store-file.js';
import { RESTORE, StoreFileError } from './store-file-error.js';

/**
 * Opens the store in a file, and leaves the file as it is.
 * @throws {StoreFileError} the database is not a store, one of another version, or was left unfinished by another program
 */
export function openUnchanged(file: string): DatabaseSync {
  requireOwnLog(file);
  const database = connectUnchanged(file);
  try {
    database.exec('PRAGMA trusted_schema = OFF');
    schemaVersion(database, file);
    return database;
  } catch (error) {
    database.close();
    if (!needsRollback(error)) throw error;
    const advice = 'start the service, which undoes that write';
    throw new StoreFileError(file, `was left by a program that died in a write: ${advice}`);
  }
}

/**
 * How SQLite is told to leave the file and what is beside it:
 *
 * | beside the file  | its folder        | the connection                  | why                                    |
 * | ---------------- | ----------------- | ------------------------------- | -------------------------------------- |
 * | a log or journal | any               | only reads                      | a writer's end merges it into the file |
 * | neither          | can be written    | may write                       | a reader's end leaves an empty log     |
 * | neither          | cannot be written | takes the file for unchangeable | it cannot make the log that it needs   |
 */
function connectUnchanged(file: string): DatabaseSync {
  const hasLog = [`${file}-wal`, `${file}-journal`].some(fs.existsSync);
  if (hasLog) return new DatabaseSync(file, { readOnly: true, timeout: 0 });
  if (isWritable(dirname(file))) return new DatabaseSync(file, { timeout: 0 });
  // https://sqlite.org/uri.html#uriimmutable
  const immutable = new URL(`${pathToFileURL(file).href}?immutable=1`);
  return new DatabaseSync(immutable, { readOnly: true });
}

function isWritable(path: string): boolean {
  try {
    fs.accessSync(path, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** In the header of a database: https://sqlite.org/fileformat.html#file_format_version_numbers */
const WRITE_VERSION_OFFSET = 18;
/** The write version of a database without a write-ahead log, such as a backup. A store has another one. */
const WITHOUT_LOG = 1;

/** Refuses a file that has no log of its own, such as a backup, beside the log of another file. */
function requireOwnLog(file: string): void {
  if (!hasContent(`${file}-wal`)) return;
  const header = Buffer.alloc(WRITE_VERSION_OFFSET + 1);
  const descriptor = fs.openSync(file, 'r');
  fs.readSync(descriptor, header);
  fs.closeSync(descriptor);
  if (header[WRITE_VERSION_OFFSET] !== WITHOUT_LOG) return;
  const advice = 'remove that log, or put its own file back';
  throw new StoreFileError(file, `is not the file that ${file}-wal belongs to: ${advice}`);
}

function hasUnfinishedWrite(file: string): boolean {
  using database = new DatabaseSync(file, { readOnly: true, timeout: 0 });
  try {
    readPragma(database, 'schema_version');
    return false;
  } catch (error) {
    return needsRollback(error);
  }
}

/**
 * Undoes the write of a program that died in it and left its journal beside the store. First on a copy, which is checked:
 * the journal of another file would damage this one. SQLite undoes the write before the first read of a connection that
 * may write.
 */
export function undoUnfinishedWrite(file: string): void {
  const journal = `${file}-journal`;
  if (!fs.existsSync(journal) || !hasUnfinishedWrite(file)) return;
  const folder = fs.mkdtempSync(`${file}.tmp-`);
  try {
    const copy = join(folder, 'copy.db');
    fs.copyFileSync(file, copy);
    fs.copyFileSync(journal, `${copy}-journal`);
    using database = new DatabaseSync(copy);
    schemaVersion(database, file); // its first read undoes the write in the copy
    requireSound(database, file);
  } catch (error) {
    // If another process was faster, the copy may hold a part of each state.
    if (hasUnfinishedWrite(file)) throw error;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
  using database = new DatabaseSync(file, { timeout: 0 });
  readPragma(database, 'schema_version'); // any read undoes the write
}

/** Up to this many bytes a file is read completely before it is used: some 100 ms at most. */
const CHECKED_SIZE = 64 * 2 ** 20;

/** Checks the pages of a store, unless it is large. */
export function checkPages(database: DatabaseSync, file: string): void {
  if (fs.statSync(file).size <= CHECKED_SIZE) requireSound(database, file);
}

/** Reads every page. @throws {StoreFileError} the pages contradict each other */
export function requireSound(database: DatabaseSync, file: string): void {
  const finding = readPragma(database, 'quick_check');
  if (finding !== 'ok')
    throw new StoreFileError(file, `is damaged (${String(finding)}): ${RESTORE}`);
}
