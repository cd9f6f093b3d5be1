import { closeSync, existsSync, openSync, realpathSync, renameSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync, backup } from 'node:sqlite';
import { UnavailableError } from '../../domain/errors.js';
import { isSqliteError, retryWhileBusy } from './busy.js';
import { requireSound, requireStore } from './schema.js';
import { StoreFileError, fileIdentity, findOrCreateFile, syncFolder } from './store-file.js';

/** How a store is backed up. */
export interface BackupOptions {
  /**
   * How many backups to keep: `FILE` is the newest, `FILE.1` the one before it, up to `FILE.<keep - 1>`. Default: one,
   * and it must not exist.
   */
  readonly keep?: number | undefined;
  /** Aborted: rejects with its reason, and nothing is left of the backup. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the numbers of pages. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** A finished backup. */
export interface Backup {
  /** Absolute path of the store. */
  readonly store: string;
  /** Absolute path of the backup. */
  readonly file: string;
  readonly bytes: number;
  readonly pets: number;
}

const BUSY_TIMEOUT = 5000;

/**
 * Copies the store in the file at `path` to `target`, as of the instant it begins, while any process uses the store.
 * The backup gets its name only after it was checked and is on the disk. Only the user of this process can read it.
 * @throws {StoreFileError} the store or the target cannot be used, or the store is damaged. Earlier backups are
 * unchanged.
 */
export async function backUpSqliteStore(
  path: string,
  target: string,
  { keep, signal, onProgress }: BackupOptions = {},
): Promise<Backup> {
  const store = await findOrCreateFile(resolve(path), true);
  const file = resolve(target);
  const nameOf = (age: number): string => (age === 0 ? file : `${file}.${age}`);
  const names = Array.from({ length: keep ?? 1 }, (_, age) => nameOf(age));
  requireTarget(store, names, keep !== undefined);
  let folder: string | undefined;
  try {
    folder = await mkdtemp(`${file}.tmp-`); // for this user alone, and on the disk of the target
    const copy = join(folder, 'copy.db');
    closeSync(openSync(copy, 'wx', 0o600));
    await copySnapshot(store, copy, (done, total) => {
      signal?.throwIfAborted();
      onProgress?.(done, total);
    });
    const pets = checkCopy(store, copy);
    signal?.throwIfAborted();
    const { size: bytes } = statSync(copy);
    // Up to the first free name, or over the oldest backup.
    const free = names.findIndex((name) => !existsSync(name));
    for (let age = free === -1 ? names.length - 1 : free; age > 0; age -= 1) {
      renameSync(nameOf(age - 1), nameOf(age));
    }
    renameSync(copy, file);
    await syncFolder(dirname(file));
    return { store, file, bytes, pets };
  } catch (error) {
    throw backupError(store, file, error);
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/** Refuses to write over anything but an earlier backup. */
function requireTarget(store: string, names: readonly string[], mayExist: boolean): void {
  const [file = ''] = names;
  if (/-(?:wal|shm|journal)$/.test(file)) {
    throw new StoreFileError(file, 'has a name that SQLite uses beside a store: name another file');
  }
  for (const name of names.filter(existsSync)) {
    // Open stores have a log.
    const isStore = fileIdentity(name) === fileIdentity(store) || existsSync(`${realpathSync(name)}-wal`);
    if (isStore) throw new StoreFileError(name, 'is a store, not a backup: name another file');
    if (!statSync(name).isFile()) throw new StoreFileError(name, 'is not a regular file: name another file');
    if (!mayExist) throw new StoreFileError(name, 'exists: name another file, or use --keep');
  }
}

/** Copies the store as of now. Writers neither wait nor change the copy. */
async function copySnapshot(
  store: string,
  copy: string,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  const database = await retryWhileBusy('backing up', { busyTimeout: BUSY_TIMEOUT }, () =>
    openSnapshot(store),
  );
  try {
    const pages = await backup(database, copy, {
      rate: 1000,
      progress: ({ totalPages, remainingPages }) => onProgress(totalPages - remainingPages, totalPages),
    });
    onProgress(pages, pages);
  } finally {
    database.close();
  }
}

/** A connection in a read transaction. Without it, each write of another process would start the backup again. */
function openSnapshot(store: string): DatabaseSync {
  // A log that a crash left stays as it is; another connection would bring it into the file.
  const database = new DatabaseSync(store, { readOnly: existsSync(`${store}-wal`), timeout: 0 });
  try {
    database.exec('BEGIN');
    requireStore(database, store); // reads, which takes the snapshot
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Returns how many animals the copy holds. */
function checkCopy(store: string, copy: string): number {
  const database = new DatabaseSync(copy);
  try {
    database.exec('PRAGMA journal_mode = DELETE'); // a single file, which also opens on a disk that is read-only
    requireStore(database, store);
    requireSound(database, store);
    return Number(database.prepare('SELECT count(*) AS pets FROM pets').get()?.['pets']);
  } finally {
    database.close();
  }
}

/** Errors of SQLite and of the file system, with both files. */
function backupError(store: string, file: string, error: unknown): unknown {
  const cause = error instanceof UnavailableError ? error.cause : error;
  if (!isSqliteError(cause) && !(cause instanceof Error && 'syscall' in cause)) return error;
  return new StoreFileError(store, `was not backed up to ${file} (${cause.message})`, { cause });
}
