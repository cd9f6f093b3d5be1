import * as fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallOptions } from '../../application/animal-store.js';
import { nameFinishedFile, syncFolder } from '../file-system.js';
import { retryWhileBusy } from './busy.js';
import { copyTo } from './copy-to.js';
import { openUnchanged, requireSound } from './open-unchanged.js';
import { FIND_COPY_MARK } from './schema.js';
import { isBusy } from './sqlite-errors.js';
import { createFolders, findFile, hasContent, realPath } from './store-file.js';
import { StoreFileError, storeFileError } from './store-file-error.js';
import { isNameBesideStore } from './store-path.js';

/** A finished backup, or a restored store. Paths are absolute. */
export interface SqliteBackup {
  /** The file of the store. */
  readonly store: string;
  /** The file of the backup. */
  readonly file: string;
  /** How many animals it holds. */
  readonly pets: number;
  /** The folder with the files that were in the place of a restored store, if there were any. */
  readonly setAside?: string | undefined;
}

/**
 * Copies the store in the file at `path` to the new file `target`, as of one instant, while any process uses the store.
 * The backup gets its name only after it was checked and is on the disk. Only the user of this process can read it.
 * @throws {StoreFileError} the store cannot be used or is damaged, or the target exists.
 */
export async function backUpSqliteStore(
  path: string,
  target: string,
  call: CallOptions = {},
): Promise<SqliteBackup> {
  const file = resolve(target);
  try {
    const store = findFile(resolve(path));
    if (fs.existsSync(file)) throw new StoreFileError(file, 'exists: name a new file');
    if (isNameBesideStore(file))
      throw new StoreFileError(
        file,
        'has a name that SQLite uses beside a store: name another file',
      );
    return await withCheckedCopy(store, file, call, (copy, pets) => {
      nameFinishedFile(copy, file);
      return { store, file, pets };
    });
  } catch (error) {
    throw notCopied(resolve(path), file, error);
  }
}

/**
 * Puts a checked copy of the backup in `backup` in the place of the store at `path`. What is there, with the log that a
 * crash may have left, goes to a folder beside it. For root the new file gets the owner of the old one, or of its folder.
 * @throws {StoreFileError} the backup cannot be used, or a process has the store open. The store is unchanged.
 */
export async function restoreSqliteStore(
  path: string,
  backup: string,
  call: CallOptions = {},
): Promise<SqliteBackup> {
  const target = resolve(path);
  try {
    const file = findFile(resolve(backup));
    if (!hasContent(file)) throw new StoreFileError(file, 'is empty: name a backup');
    await createFolders(target);
    const store = fs.existsSync(target) ? realPath(target) : target;
    return await withCheckedCopy(file, store, call, (copy, pets) => {
      requireClosed(store);
      const { uid, gid } = fs.statSync(fs.existsSync(store) ? store : dirname(store));
      if (process.getuid?.() === 0) fs.chownSync(copy, uid, gid);
      const setAside = setFilesAside(store);
      fs.renameSync(copy, store);
      return { store, file, pets, setAside };
    });
  } catch (error) {
    throw notCopied(resolve(backup), target, error);
  }
}

const notCopied = (source: string, target: string, error: unknown): unknown =>
  storeFileError(source, error, (reason) => `was not copied to ${target} (${reason})`);

/**
 * Refuses a store that any process has open. Opening it also merges the log that a crash may have left into the file.
 * @throws {StoreFileError} the store is in use
 */
function requireClosed(store: string): void {
  if (!fs.existsSync(store)) return;
  using database = new DatabaseSync(store, { timeout: 0 });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK');
  } catch (cause) {
    // Other errors pass: a damaged file, or one that is no database, may be replaced.
    if (!isBusy(cause)) return;
    const problem = 'is in use: stop every service and command on it';
    throw new StoreFileError(store, problem, { cause });
  }
}

/** Moves the files of a store, if there are any, to a new folder beside it. Returns that folder. */
function setFilesAside(store: string): string | undefined {
  const paths = ['', '-wal', '-shm', '-journal'].map((suffix) => store + suffix);
  const files = paths.filter((path) => fs.existsSync(path));
  if (files.length === 0) return undefined;
  const folder = fs.mkdtempSync(`${store}.replaced-`);
  for (const file of files) {
    // The store keeps its name until the copy takes it: a service that starts meanwhile always finds a file.
    const setAside = file === store ? linkOrCopy : fs.renameSync;
    setAside(file, join(folder, basename(file)));
  }
  return folder;
}

function linkOrCopy(file: string, other: string): void {
  try {
    fs.linkSync(file, other);
  } catch {
    fs.copyFileSync(file, other); // hard links are not supported, as on FAT
  }
}

/**
 * Copies the store in `source` beside `target`, as of one instant and for this user alone. Checks the copy, and lets
 * `place` give it its name. Whatever fails, nothing is left of the copy.
 * @param place gets the path of the copy, and how many animals it holds
 */
async function withCheckedCopy(
  source: string,
  target: string,
  call: CallOptions,
  place: (copy: string, pets: number) => SqliteBackup,
): Promise<SqliteBackup> {
  const folder = await mkdtemp(`${target}.tmp-`); // on the disk of the target
  try {
    const copy = join(folder, 'copy.db');
    await retryWhileBusy('copying the store', call, () => {
      // SQLite copies one state of the store, and no writer waits. The copy needs no log, so a backup opens on a
      // read-only disk, too.
      using database = openUnchanged(source);
      copyTo(copy, database);
    });
    const pets = checkCopy(copy, source);
    // Copying blocked the event loop. Let it deliver the signals of that time, such as Ctrl-C: that takes two turns.
    await nextTurn();
    await nextTurn();
    call.signal?.throwIfAborted();
    const placed = place(copy, pets);
    await syncFolder(dirname(target));
    return placed;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns how many animals the copy holds. */
function checkCopy(copy: string, source: string): number {
  using database = new DatabaseSync(copy); // on a read-only connection, SQLite would not check the CHECK constraints
  requireSound(database, source);
  const trigger = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").get();
  if (trigger !== undefined)
    throw new StoreFileError(
      source,
      `has the trigger ${String(trigger['name'])}: no store has one, drop it`,
    );
  if (database.prepare(FIND_COPY_MARK).get() !== undefined)
    throw new StoreFileError(source, 'is a copy that has not finished: copy again, to a new store');
  const counted = database.prepare('SELECT count(*) AS pets FROM pets').get();
  return Number(counted?.['pets']);
}
