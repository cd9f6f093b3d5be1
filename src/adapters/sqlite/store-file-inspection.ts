import { closeSync, openSync, readSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { isBusy } from './sqlite-error.js';
import { APPLICATION_ID } from './schema.js';
import { SEE_WRITABLE, StoreFileError, messageOf } from './store-file-error.js';
import { statOf } from './store-file.js';

/** Up to this many bytes a file is read through once before it is used: some 100 ms at most. */
const CHECKED_SIZE = 64 * 2 ** 20;

const HEADER_SIZE = 100;

const OTHER_FILE = 'name another file for the store';
const RESTORE = 'put back a sound copy, or name another file for the store';

/**
 * Makes sure that the file is a store that this program can use, before SQLite opens it for writing.
 * Must not be called while this process has the file open: by POSIX rules, closing a file gives up every
 * lock of the process on it, those of SQLite too. For the same reason all is done in one synchronous step.
 * @param forWriting SQLite itself opens a file that cannot be written for reading, and says nothing
 * @throws {StoreFileError} it is not; the file and what is beside it are unchanged.
 */
export function inspectStoreFile(
  file: string,
  newestVersion: number,
  { forWriting }: { readonly forWriting: boolean },
): void {
  let size: number;
  try {
    const stats = statOf(file);
    if (!stats?.isFile()) throw new StoreFileError(file, `is not a regular file: ${OTHER_FILE}`);
    size = Number(stats.size);
    inspectHeader(file, size, newestVersion);
  } catch (cause) {
    if (cause instanceof StoreFileError) throw cause;
    throw new StoreFileError(file, `cannot be read (${messageOf(cause)}): ${OTHER_FILE}`, { cause });
  }
  if (size <= CHECKED_SIZE) inspectPages(file);
  if (forWriting) requireWritable(file);
}

function requireWritable(file: string): void {
  try {
    closeSync(openSync(file, 'r+'));
  } catch (cause) {
    throw new StoreFileError(file, `cannot be written (${messageOf(cause)}): ${SEE_WRITABLE}`, { cause });
  }
}

/** The file was written by a newer version of this program. */
export const newerSchemaError = (file: string, version: number, newestVersion: number): StoreFileError =>
  new StoreFileError(
    file,
    `has schema version ${version}, newer than ${newestVersion}, the newest that this program knows: ` +
      `use the program that wrote it, or ${OTHER_FILE}`,
  );

/** Reads the identity from the header (https://sqlite.org/fileformat2.html#the_database_header). */
function inspectHeader(file: string, size: number, newestVersion: number): void {
  if (size === 0) {
    throw new StoreFileError(file, `is empty: remove it to have a new store made, or ${OTHER_FILE}`);
  }
  const header = readHeader(file);
  if (!header.toString('latin1').startsWith('SQLite format 3\0'.slice(0, size))) {
    throw new StoreFileError(file, `is not an SQLite database: ${OTHER_FILE}`);
  }
  if (size < HEADER_SIZE) {
    throw new StoreFileError(file, `is cut short (it has only ${size} bytes): ${RESTORE}`);
  }
  if (header.readUInt32BE(68) !== APPLICATION_ID) {
    throw new StoreFileError(file, `is the SQLite database of another program: ${OTHER_FILE}`);
  }
  const version = header.readUInt32BE(60);
  if (version > newestVersion) throw newerSchemaError(file, version, newestVersion);
  // 1 stands for 65,536. While there is a log, the file may still have to grow.
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const expected = pageSize * header.readUInt32BE(28);
  if (size < expected && !hasLog(file)) {
    throw new StoreFileError(file, `is cut short (${size} bytes of ${expected}): ${RESTORE}`);
  }
}

function readHeader(file: string): Buffer {
  const header = Buffer.alloc(HEADER_SIZE);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, header, 0, HEADER_SIZE, 0);
  } finally {
    closeSync(descriptor);
  }
  return header;
}

function inspectPages(file: string): void {
  const logged = hasLog(file);
  const damage = findDamage(file, logged);
  if (damage === undefined) return;
  // Another process may have begun to write meanwhile, which an immutable reading takes for damage.
  if (!logged && hasLog(file)) inspectPages(file);
  else throw new StoreFileError(file, `is damaged (${damage}): ${RESTORE}`);
}

/**
 * Without a log the file is read as immutable: SQLite then makes no files beside it. With one it is read as
 * it is, by a connection that cannot write: one that can would bring the log into the file when it closes.
 */
function findDamage(file: string, logged: boolean): string | undefined {
  const url = pathToFileURL(file);
  if (!logged) url.searchParams.set('immutable', '1');
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(url, { readOnly: true, timeout: 0 });
    const finding = String(database.prepare('PRAGMA quick_check(1)').get()?.['quick_check']);
    return finding === 'ok' ? undefined : finding;
  } catch (error) {
    // Whoever holds the lock has found the file good enough to use.
    return isBusy(error) ? undefined : messageOf(error);
  } finally {
    database?.close();
  }
}

const hasLog = (file: string): boolean => (statOf(`${file}-wal`)?.size ?? 0n) > 0n;
