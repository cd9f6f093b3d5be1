/* SQLite finds a file and its log by their names alone. These checks make sure that they are the right ones. */

import * as fs from 'node:fs';
import { UnavailableError } from '../../domain/errors.js';
import { hasContent, isInWalMode } from './store-file.js';
import { StoreFileError } from './store-file-error.js';

/** Device and inode: another file at the same path has others. */
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
  let checkedAt = -Infinity;
  const expected = identityOf(file);
  let isInPlace = true;
  return (maxAge) => {
    const now = performance.now();
    if (isInPlace && now - checkedAt >= maxAge) {
      isInPlace = identityOf(file) === expected;
      checkedAt = now;
    }
    if (isInPlace) return;
    const cause = new Error(`${file} was removed or replaced: open the store again`);
    throw new UnavailableError('finding the file of the store', { cause });
  };
}

/**
 * Refuses a `-wal` beside a file that is not in WAL mode, such as a backup that was put in the place of the store:
 * SQLite would replay that log.
 */
export function requireOwnLog(file: string): void {
  const log = `${file}-wal`;
  if (!hasContent(log) || isInWalMode(file)) return;
  throw new StoreFileError(
    file,
    `is not the file of ${log}: put back the file of that log, or move the log away`,
  );
}
