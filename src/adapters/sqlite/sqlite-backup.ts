import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { requireOwnLog } from './file-identity.js';
import { openToRead } from './open-database.js';
import { retryWhileBusy } from './retry-while-busy.js';
import { createFolder, filePath, hasContent, syncFolder } from './store-file.js';
import { StoreFileError, withFileErrors } from './store-file-error.js';

/**
 * Copies the store in the file at `path` to the new file `target`, as one snapshot, while other processes use the
 * store, and checks the copy. Only the user of this process can read it. Resolves to how many animals it holds.
 * @throws {StoreFileError} the store cannot be used or is damaged, or the target exists or cannot be written.
 * @throws {UnavailableError} another process kept the file locked for five seconds.
 */
export const backUpSqliteStore = (path: string, target: string): Promise<number> =>
  copyStore(path, target);

/**
 * Copies a backup to the file at `path`, with missing folders, and checks the copy. Resolves to how many animals it
 * holds.
 * @throws {StoreFileError} the backup cannot be used, is damaged or has a log beside it, or there is a file at `path`.
 */
export async function restoreSqliteStore(path: string, backup: string): Promise<number> {
  await withFileErrors(backup, 'cannot be used', async () => requireWholeBackup(filePath(backup)));
  await withFileErrors(path, 'cannot be written', async () =>
    createFolder(dirname(filePath(path))),
  );
  return copyStore(backup, path);
}

function requireWholeBackup(file: string): void {
  const log = [`${file}-wal`, `${file}-journal`].find(hasContent);
  if (log !== undefined)
    throw new StoreFileError(file, `is not a whole backup, because ${log} is not empty`);
}

/** Copies a store to a new file. Resolves to how many animals it holds. */
const copyStore = (from: string, to: string): Promise<number> =>
  withFileErrors(from, `cannot be copied to ${to}`, async () => {
    const source = filePath(from);
    const target = filePath(to);
    if (['', '-wal', '-shm', '-journal'].some((suffix) => fs.existsSync(target + suffix)))
      throw new StoreFileError(
        target,
        `exists: stop its services, then move it, ${target}-wal and ${target}-shm away`,
      );
    requireOwnLog(source);
    const part = `${target}.${randomUUID()}.part`;
    try {
      const pets = await retryWhileBusy(undefined, () => copyTo(source, part));
      nameFinished(part, target);
      return pets;
    } finally {
      fs.rmSync(part, { force: true });
    }
  });

function copyTo(source: string, part: string): number {
  fs.writeFileSync(part, '', { mode: 0o600 }); // created first for its mode; SQLite accepts an empty file
  using store = openToRead(source);
  store.prepare('VACUUM INTO ?').run(part);
  // Not read-only: quick_check would skip the constraints.
  using copied = new DatabaseSync(part, { returnArrays: true });
  requireSound(copied, source);
  return Number(copied.prepare('SELECT count(*) FROM pets').get()?.[0]);
}

/** Reads every page. @throws {StoreFileError} the pages contradict each other */
function requireSound(copied: DatabaseSync, source: string): void {
  const finding = copied.prepare('PRAGMA quick_check').get()?.[0];
  if (finding !== 'ok')
    throw new StoreFileError(source, `is damaged (${String(finding)}): restore a backup`);
}

/** Renames a finished copy, and never replaces another file. */
function nameFinished(part: string, target: string): void {
  try {
    fs.linkSync(part, target);
  } catch (error) {
    if (Object(error).code === 'EEXIST') throw error;
    // There are no hard links here. 'wx' claims the name: a rename alone would replace another file.
    fs.closeSync(fs.openSync(target, 'wx', 0o600));
    fs.renameSync(part, target);
  }
  syncFolder(dirname(target));
}
