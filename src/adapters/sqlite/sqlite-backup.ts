import * as fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type { Call } from '../../application/animal-store.js';
import { UnavailableError } from '../../domain/errors.js';
import { isBusy, isSqliteError, retryWhileBusy } from './busy.js';
import { openUnchanged, requireSound } from './schema.js';
import { StoreFileError, createFolders, findOrCreateFile, syncFolder } from './store-file.js';

/** A finished backup, or a restored store. Paths are absolute. */
export interface Backup {
  readonly store: string;
  readonly file: string;
  readonly bytes: number;
  readonly pets: number;
  /** Of a restored store: the folder with the files that were in its place; `null` if there were none. */
  readonly setAside?: string | null;
}

/**
 * Copies the store in the file at `path` to the new file `target`, as of one instant, while any process uses the store.
 * The backup gets its name only after it was checked and is on the disk. Only the user of this process can read it.
 * @throws {StoreFileError} the store cannot be used or is damaged, or the target exists.
 */
export async function backUpSqliteStore(path: string, target: string, call: Call = {}): Promise<Backup> {
  const store = await findOrCreateFile(resolve(path), true);
  const file = resolve(target);
  if (/-(?:wal|shm|journal)$/.test(file))
    throw new StoreFileError(file, 'has a name that SQLite uses beside a store: name another file');
  // A link, not a new name: it never replaces a file.
  return { store, file, ...(await copyChecked(store, file, call, (copy) => fs.linkSync(copy, file))) };
}

/**
 * Puts a checked copy of the backup in `backup` in the place of the store at `path`. What is there, with the log that a
 * crash may have left, goes to a folder beside it. For root the new file gets the owner of the old one, or of its folder.
 * @throws {StoreFileError} the backup cannot be used, or a process has the store open. The store is unchanged.
 */
export async function restoreSqliteStore(path: string, backup: string, call: Call = {}): Promise<Backup> {
  const file = await findOrCreateFile(resolve(backup), true);
  if (fs.statSync(file).size === 0) throw new StoreFileError(file, 'is empty: name a backup');
  let store = resolve(path);
  await createFolders(store);
  if (fs.existsSync(store)) store = fs.realpathSync.native(store);
  if (store === file) throw new StoreFileError(file, 'is the store itself: name a backup of it');
  let setAside: string | null = null;
  const copied = await copyChecked(file, store, call, (copy) => {
    requireUnused(store);
    const { uid, gid } = fs.statSync(fs.existsSync(store) ? store : dirname(store));
    if (process.getuid?.() === 0) fs.chownSync(copy, uid, gid);
    for (const suffix of ['', '-wal', '-shm', '-journal']) {
      if (!fs.existsSync(store + suffix)) continue;
      setAside ??= fs.mkdtempSync(`${store}.replaced-`);
      // The store keeps its name until the copy has it: a service that starts meanwhile never finds none.
      const move = suffix === '' ? fs.linkSync : fs.renameSync;
      move(store + suffix, join(setAside, basename(store) + suffix));
    }
    fs.renameSync(copy, store);
  });
  return { store, file, ...copied, setAside };
}

/**
 * Refuses a store that any process has open. Brings what a crash left in the log into the file; a damaged file stays as
 * it is.
 */
function requireUnused(store: string): void {
  if (!fs.existsSync(store)) return;
  const database = new DatabaseSync(store, { timeout: 0 });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK');
  } catch (error) {
    if (isBusy(error)) throw new StoreFileError(store, 'is in use: stop every service and command on it');
  } finally {
    database.close();
  }
}

/**
 * Copies the store in `source` beside `target`, as of one instant and for this user alone, checks the copy, and lets
 * `place` give it its name. Whatever fails, nothing is left of the copy.
 */
async function copyChecked(
  source: string,
  target: string,
  { signal }: Call,
  place: (copy: string) => void,
): Promise<{ readonly bytes: number; readonly pets: number }> {
  let folder: string | undefined;
  try {
    folder = await mkdtemp(`${target}.tmp-`); // on the disk of the target
    const copy = join(folder, 'copy.db');
    fs.closeSync(fs.openSync(copy, 'wx', 0o600));
    await retryWhileBusy(
      'copying the store',
      () => {},
      signal,
      () => {
        // Writers neither wait nor change the copy, which has no log: it also opens on a disk that is read-only.
        using database = openUnchanged(source);
        database.prepare('VACUUM INTO ?').run(copy);
      },
    );
    const pets = checkCopy(copy, source);
    // The copy held the event loop. Signals that came meanwhile arrive in its next turn, which the second one ends.
    await setImmediate();
    await setImmediate();
    signal?.throwIfAborted();
    const { size: bytes } = fs.statSync(copy);
    place(copy);
    await syncFolder(dirname(target));
    return { bytes, pets };
  } catch (error) {
    const cause = error instanceof UnavailableError ? error.cause : error;
    if (!isSqliteError(cause) && !(cause instanceof Error && 'syscall' in cause)) throw error;
    if ('code' in cause && cause.code === 'EEXIST')
      throw new StoreFileError(target, 'exists: name another file, for example with the date in its name');
    throw new StoreFileError(source, `was not copied to ${target} (${cause.message})`, { cause });
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/** Returns how many animals the copy holds. */
function checkCopy(copy: string, source: string): number {
  const database = new DatabaseSync(copy); // a read-only connection would not check the CHECK constraints
  try {
    requireSound(database, source);
    const trigger = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").get();
    if (trigger !== undefined)
      throw new StoreFileError(
        source,
        `has the trigger ${String(trigger['name'])}: no store has one, drop it`,
      );
    return Number(database.prepare('SELECT count(*) AS pets FROM pets').get()?.['pets']);
  } finally {
    database.close();
  }
}
