/* Checks that a file is the one that was opened, and that a log belongs to it: SQLite goes by names alone. */

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
 * Returns a check that the path still names the file that was opened: SQLite would go on writing to a removed or
 * replaced file, where nobody would find the animals. The check trusts a result younger than `maxAge`, in milliseconds.
 * It throws `UnavailableError`; once it has failed, it always fails.
 */
export function inPlaceCheck(file: string): (maxAge: number) => void {
  let checkedAt = performance.now();
  const opened = identityOf(file);
  let isInPlace = true;
  return (maxAge) => {
    const now = performance.now();
    if (isInPlace && now - checkedAt >= maxAge) {
      isInPlace = identityOf(file) === opened;
      checkedAt = now;
    }
    if (isInPlace) return;
    const cause = new Error(`${file} was removed or replaced: open the store again`);
    throw new UnavailableError('finding the file of the store', { cause });
  };
}

/** In the header of a database: https://sqlite.org/fileformat.html#file_format_version_numbers */
const WRITE_VERSION_OFFSET = 18;
const WAL_VERSION = 2;

/**
 * Refuses a missing file, or one that uses no log, such as a backup, beside a `-wal` with content: SQLite would replay
 * that log into it. Closing the file here drops this process's POSIX locks on it; SQLite tolerates that since 3.51.
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
  if (header[WRITE_VERSION_OFFSET] !== WAL_VERSION)
    throw new StoreFileError(
      file,
      `is not the file of ${log}: put back the file of that log, or move the log away`,
    );
}
