import * as fs from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StoreFileError } from './store-file-error.js';

/** The absolute path of a file. @throws {StoreFileError} it names none */
export function filePath(path: string): string {
  if (!/^(?:$|:memory:$|\/\/(?!\/))/.test(path)) return resolve(path);
  throw new StoreFileError(
    `'${path}'`,
    'names no file: a store needs one, such as data/animals.db',
  );
}

/** Whether a file exists and is not empty. */
export const hasContent = (file: string): boolean =>
  (fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** Creates a missing file, with its folders, for this user alone. SQLite brings its name to the disk at the first commit. */
export function createFile(file: string): void {
  createFolder(dirname(file));
  fs.closeSync(fs.openSync(file, 'a', 0o600));
}

/** Creates missing folders for this user alone, and brings their names to the disk. */
export function createFolder(folder: string): void {
  if (fs.existsSync(folder)) return;
  createFolder(dirname(folder));
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 }); // also if another process was faster
  syncFolder(dirname(folder));
}

/** Brings the names in a folder to the disk. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return; // cannot
  const descriptor = fs.openSync(folder, 'r');
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}
