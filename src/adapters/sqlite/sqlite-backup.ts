import * as fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallOptions } from '../../application/animal-store.js';
import { retryWhileBusy } from './busy.js';
import { openUnchanged, requireSound } from './open-unchanged.js';
import { isBusy } from './sqlite-errors.js';
import {
  StoreFileError,
  createFolders,
  findOrCreateFile,
  storeFileError,
  syncFolder,
} from './store-file.js';

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
  const store = await findOrCreateFile(resolve(path), true);
  const file = resolve(target);
  if (fs.existsSync(file)) throw new StoreFileError(file, 'exists: name a new file');
  if (/-(?:wal|shm|journal)$/.test(file))
    throw new StoreFileError(file, 'has a name that SQLite uses beside a store: name another file');
  // A link, not a new name: it never replaces a file.
  const pets = await copyChecked(store, file, call, (copy) => fs.linkSync(copy, file));
  return { store, file, pets };
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
  const file = await findOrCreateFile(resolve(backup), true);
  if (fs.statSync(file).size === 0) throw new StoreFileError(file, 'is empty: name a backup');
  let store = resolve(path);
  await createFolders(store);
  if (fs.existsSync(store)) store = fs.realpathSync.native(store);
  let setAside: string | undefined;
  const pets = await copyChecked(file, store, call, (copy) => {
    requireUnused(store);
    const { uid, gid } = fs.statSync(fs.existsSync(store) ? store : dirname(store));
    if (process.getuid?.() === 0) fs.chownSync(copy, uid, gid);
    for (const old of ['', '-wal', '-shm', '-journal'].map((suffix) => store + suffix)) {
      if (!fs.existsSync(old)) continue;
      setAside ??= fs.mkdtempSync(`${store}.replaced-`);
      // The store keeps its name until the copy has it: a service that starts meanwhile never finds none.
      const move = old === store ? fs.linkSync : fs.renameSync;
      move(old, join(setAside, basename(old)));
    }
    fs.renameSync(copy, store);
  });
  return { store, file, pets, setAside };
}

/** Refuses a store that any process has open. Brings what a crash left in the log into the file, if it is sound. */
function requireUnused(store: string): void {
  if (!fs.existsSync(store)) return;
  using database = new DatabaseSync(store, { timeout: 0 });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK');
  } catch (error) {
    if (isBusy(error))
      throw new StoreFileError(store, 'is in use: stop every service and command on it', {
        cause: error,
      });
  }
}

/**
 * Copies the store in `source` beside `target`, as of one instant and for this user alone, checks the copy, and lets
 * `place` give it its name. Whatever fails, nothing is left of the copy. Returns how many animals it holds.
 */
async function copyChecked(
  source: string,
  target: string,
  call: CallOptions,
  place: (copy: string) => void,
): Promise<number> {
  let folder: string | undefined;
  try {
    folder = await mkdtemp(`${target}.tmp-`); // on the disk of the target
    const copy = join(folder, 'copy.db');
    await retryWhileBusy('copying the store', call, () => {
      // Writers neither wait nor change the copy, which has no log: it also opens on a disk that is read-only.
      using database = openUnchanged(source);
      database.prepare('VACUUM INTO ?').run(copy);
    });
    fs.chmodSync(copy, 0o600);
    const pets = checkCopy(copy, source);
    // The copy held the event loop. Signals that came meanwhile arrive in its next turn, which the second one ends.
    await nextTurn();
    await nextTurn();
    call.signal?.throwIfAborted();
    place(copy);
    await syncFolder(dirname(target));
    return pets;
  } catch (error) {
    throw storeFileError(source, error, (reason) => `was not copied to ${target} (${reason})`);
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/** Returns how many animals the copy holds. */
function checkCopy(copy: string, source: string): number {
  using database = new DatabaseSync(copy); // a read-only connection would not check the CHECK constraints
  requireSound(database, source);
  const trigger = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").get()?.[
    'name'
  ];
  if (trigger === undefined)
    return Number(database.prepare('SELECT count(*) FROM pets').get()?.['count(*)']);
  throw new StoreFileError(source, `has the trigger ${String(trigger)}: no store has one, drop it`);
}
