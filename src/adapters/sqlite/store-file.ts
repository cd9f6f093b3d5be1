/*
 * Files and folders of a store. Closing a file of a store drops SQLite's own POSIX locks on it, which SQLite survives
 * from 3.51 on.
 */

import * as fs from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StoreFileError } from './store-file-error.js';

/** Paths that name no file: an empty one, `:memory:`, and `//host/...` of `sqlite://host/...`. */
const NO_FILE = /^(?:$|:memory:$|\/\/(?!\/))/;

/**
 * The absolute path of a file, behind links: SQLite keeps the log there.
 * @throws {StoreFileError} `path` names no file, or links to none
 */
export function filePath(path: string): string {
  if (NO_FILE.test(path))
    throw new StoreFileError(
      `'${path}'`,
      'names no file: a store needs one, such as data/animals.db',
    );
  if (fs.existsSync(path)) return fs.realpathSync(path);
  if (fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new StoreFileError(path, 'is a link to a file that does not exist: name that file');
  return resolve(path);
}

/** Whether a file exists and is not empty. */
export const hasContent = (file: string): boolean =>
  (fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** In the header of a database: https://sqlite.org/fileformat.html#file_format_version_numbers */
const WRITE_VERSION_OFFSET = 18;
const WAL_VERSION = 2;

/** Whether a file is a database whose log is a `-wal`. */
export function isInWalMode(file: string): boolean {
  if (!fs.existsSync(file)) return false;
  const header = new Uint8Array(WRITE_VERSION_OFFSET + 1);
  const descriptor = fs.openSync(file, 'r');
  fs.readSync(descriptor, header);
  fs.closeSync(descriptor);
  return header[WRITE_VERSION_OFFSET] === WAL_VERSION;
}

/**
 * Creates a missing file, with its folders, for this user alone. SQLite syncs the file's folder at the first commit.
 */
export function createFile(file: string): void {
  createFolder(dirname(file));
  fs.closeSync(fs.openSync(file, 'a', 0o600));
}

/** Creates missing folders for this user alone, and syncs the folders above them. */
export function createFolder(folder: string): void {
  if (fs.existsSync(folder)) return;
  createFolder(dirname(folder));
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 }); // recursive: no error if another process has just created it
  syncFolder(dirname(folder));
}

/** Syncs a folder: the names of new files in it survive a power cut. Like SQLite, ignores a system that cannot. */
export function syncFolder(folder: string): void {
  try {
    sync(folder, 'r');
  } catch {
    // Windows and some network shares cannot.
  }
}

/** Syncs a file: its content survives a power cut. */
export const syncFile = (file: string): void => sync(file, 'r+'); // Windows needs the right to write

function sync(path: string, flags: string): void {
  const descriptor = fs.openSync(path, flags);
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}
