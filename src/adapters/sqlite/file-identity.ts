/* Whether a file is the one that it seems to be: SQLite trusts the names of its files. */

import * as fs from 'node:fs';
import { UnavailableError } from '../../domain/errors.js';
import { hasContent } from './store-file.js';
import { StoreFileError } from './store-file-error.js';

/** Distinguishes a file from any that takes its place. */
function identityOf(file: string): string | undefined {
  const stats = fs.statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

/**
 * Returns a function that throws `UnavailableError` once the file was removed or replaced, and from then on always: SQLite
 * goes on writing into the file that it opened, where nobody finds it any more. The function looks at the file if the last
 * look is at least `unseen` milliseconds old.
 */
export function inPlaceCheck(file: string): (unseen: number) => void {
  let lookedAt = performance.now();
  const opened = identityOf(file);
  let isInPlace = true;
  return (unseen) => {
    const now = performance.now();
    if (isInPlace && now - lookedAt >= unseen) {
      isInPlace = identityOf(file) === opened;
      lookedAt = now;
    }
    if (isInPlace) return;
    const cause = new Error(`${file} was removed or replaced: open the store again`);
    throw new UnavailableError('finding the file of the store', { cause });
  };
}

/** In the header of a database: https://sqlite.org/fileformat.html#file_format_version_numbers */
const WRITE_VERSION_OFFSET = 18;
const WITH_LOG = 2;

/**
 * Refuses a file without a log of its own, such as a backup, beside the log of another file: SQLite would merge the two.
 * Closing the file here drops the POSIX locks of this process on it; SQLite stands that since 3.51.
 */
export function requireOwnLog(file: string): void {
  const log = `${file}-wal`;
  if (!hasContent(log)) return;
  const header = new Uint8Array(WRITE_VERSION_OFFSET + 1);
  if (fs.existsSync(file)) {
    const descriptor = fs.openSync(file, 'r');
    fs.readSync(descriptor, header);
    fs.closeSync(descriptor);
  }
  if (header[WRITE_VERSION_OFFSET] !== WITH_LOG)
    throw new StoreFileError(file, `is not the file of ${log}: put its file back, or move it away`);
}
