import * as fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { UnavailableError } from '../../domain/errors.js';
import { isBusy, isSqliteError, lockWait, retryWhileBusy } from './busy.js';
import { APPLICATION_ID, openUnchanged, requireSound } from './schema.js';
import { StoreFileError, createFolders, fileIdentity, findOrCreateFile, syncFolder } from './store-file.js';

/** How a store is backed up. */
export interface BackupOptions {
  /**
   * How many backups to keep: `FILE` is the newest, `FILE.1` the one before it, up to `FILE.<keep - 1>`. Default: one,
   * and it must not exist.
   */
  readonly keep?: number | undefined;
  /** When it is aborted, the call rejects with its reason once the copy is made, and nothing is left of the copy. */
  readonly signal?: AbortSignal | undefined;
  /** Called with a line when another process holds up the copy. */
  readonly onNotice?: ((line: string) => void) | undefined;
}

/** A finished backup, or a restored store. */
export interface Backup {
  /** Absolute path of the store. */
  readonly store: string;
  /** Absolute path of the backup. */
  readonly file: string;
  readonly bytes: number;
  readonly pets: number;
}

/** A restored store. */
export interface Restored extends Backup {
  /** Folder with the files that were in the store's place, under their names; `null` if there were none. */
  readonly setAside: string | null;
}

/**
 * Copies the store in the file at `path` to `target`, as of one instant, while any process uses the store. The backup
 * gets its name only after it was checked and is on the disk. Only the user of this process can read it.
 * @throws {StoreFileError} the store or the target cannot be used, or the store is damaged. Earlier backups are
 * unchanged.
 */
export async function backUpSqliteStore(
  path: string,
  target: string,
  { keep, ...options }: BackupOptions = {},
): Promise<Backup> {
  const store = await findOrCreateFile(resolve(path), true);
  const file = resolve(target);
  const nameOf = (age: number): string => (age === 0 ? file : `${file}.${age}`);
  const names = Array.from({ length: keep ?? 1 }, (_, age) => nameOf(age));
  requireTarget(store, names, keep !== undefined);
  const copied = await copyChecked(store, file, options, (copy) => {
    // Up to the first free name, or over the oldest backup.
    const free = names.findIndex((name) => !fs.existsSync(name));
    for (let age = free === -1 ? names.length - 1 : free; age > 0; age -= 1) {
      fs.renameSync(nameOf(age - 1), nameOf(age));
    }
    fs.renameSync(copy, file);
  });
  return { store, file, ...copied };
}

/**
 * Puts a checked copy of the backup in `backup` in the place of the store at `path`. What is there, with the log that a
 * crash may have left, goes to a folder beside it. The new file has the owner of the old one, or of its folder.
 * @throws {StoreFileError} the backup cannot be used, or a process has the store open. The store is unchanged.
 */
export async function restoreSqliteStore(
  path: string,
  backup: string,
  options: Omit<BackupOptions, 'keep'> = {},
): Promise<Restored> {
  const file = await findOrCreateFile(resolve(backup), true);
  let store = resolve(path);
  await createFolders(store);
  if (fs.existsSync(store)) store = fs.realpathSync.native(store);
  if (fileIdentity(store) === fileIdentity(file)) {
    throw new StoreFileError(file, 'is the store itself: name a backup of it');
  }
  let setAside: string | null = null;
  const copied = await copyChecked(file, store, options, (copy) => {
    requireUnused(store);
    const { uid, gid } = fs.statSync(fs.existsSync(store) ? store : dirname(store));
    fs.chownSync(copy, uid, gid);
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

/** Refuses to write over anything but an earlier backup. */
function requireTarget(store: string, names: readonly string[], mayExist: boolean): void {
  const [file = ''] = names;
  if (/-(?:wal|shm|journal)$/.test(file)) {
    throw new StoreFileError(file, 'has a name that SQLite uses beside a store: name another file');
  }
  for (const name of names.filter(fs.existsSync)) {
    if (!fs.statSync(name).isFile()) {
      throw new StoreFileError(name, 'is not a regular file: name another file');
    }
    if (!mayExist) throw new StoreFileError(name, 'exists: name another file, or use --keep');
    if (fileIdentity(name) === fileIdentity(store) || !isBackup(name)) {
      throw new StoreFileError(name, 'is not a backup, so nothing replaces or moves it: name another file');
    }
  }
}

/** Whether a file is marked as a store but has no log, unlike every store that was ever opened. */
function isBackup(file: string): boolean {
  const header = Buffer.alloc(100); // https://sqlite.org/fileformat.html#the_database_header
  const opened = fs.openSync(file, 'r');
  try {
    fs.readSync(opened, header);
  } finally {
    fs.closeSync(opened);
  }
  const needsLog = header[18] === 2;
  return header.readUInt32BE(68) === APPLICATION_ID && !needsLog;
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
  { signal, onNotice }: Omit<BackupOptions, 'keep'>,
  place: (copy: string) => void,
): Promise<{ readonly bytes: number; readonly pets: number }> {
  let folder: string | undefined;
  try {
    folder = await mkdtemp(`${target}.tmp-`); // on the disk of the target
    const copy = join(folder, 'copy.db');
    fs.closeSync(fs.openSync(copy, 'wx', 0o600));
    await retryWhileBusy('copying the store', lockWait(source, onNotice), signal, () =>
      copyInto(copy, source),
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
    throw new StoreFileError(source, `was not copied to ${target} (${cause.message})`, { cause });
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/** Writers neither wait nor change the copy, which has no log: it also opens on a disk that is read-only. */
function copyInto(copy: string, source: string): void {
  const database = openUnchanged(source);
  try {
    database.prepare('VACUUM INTO ?').run(copy);
  } finally {
    database.close();
  }
}

/** Returns how many animals the copy holds. */
function checkCopy(copy: string, source: string): number {
  const database = new DatabaseSync(copy); // a read-only connection would not check the CHECK constraints
  try {
    requireSound(database, source);
    return Number(database.prepare('SELECT count(*) AS pets FROM pets').get()?.['pets']);
  } finally {
    database.close();
  }
}
