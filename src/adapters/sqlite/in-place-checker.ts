import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { UnavailableError } from '../../domain/errors.js';

/** The coarsest resolution of the times of folders, in milliseconds (FAT): two changes within it may look like one. */
const TIME_RESOLUTION = 2_000n;

/**
 * Returns a function that throws `UnavailableError` if the file of a store, or its log, was removed or replaced since:
 * SQLite does not notice, and writes into a file that has no name. It looks at the files only if their folder changed:
 * since Linux 6.13, reading the times of a file costs one more write to the disk at its next sync.
 */
export function inPlaceChecker(file: string): () => void {
  const files = [file, `${file}-wal`].map((path) => ({ path, identity: identityOf(path) }));
  /** The latest state of the folder in which the files were in place, and which no later change can leave again. */
  let checkedState: string | undefined;
  return () => {
    const folder = statSync(dirname(file), { bigint: true, throwIfNoEntry: false });
    if (folder === undefined) throw notInPlace(file);
    const state = `${folder.dev}:${folder.ino} ${folder.ctimeNs}`;
    if (state === checkedState) return;
    const displaced = files.find(({ path, identity }) => identityOf(path) !== identity);
    if (displaced) throw notInPlace(displaced.path);
    // A change just after another one may leave the same state: look at the files again next time.
    const age = BigInt(Date.now()) - folder.ctimeMs;
    if (age >= TIME_RESOLUTION) checkedState = state;
  };
}

function notInPlace(path: string): UnavailableError {
  const cause = new Error(`${path} was removed or replaced`);
  return new UnavailableError('finding the store', { cause });
}

/** Distinguishes a file from any that takes its place: its device and inode. */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}
