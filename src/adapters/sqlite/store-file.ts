import * as fs from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UnavailableError, isError } from '../../domain/errors.js';
import { isBusy, isDamaged } from './sqlite-errors.js';

/** The file cannot be a store and was not changed. The message is one line: the file, what is wrong, what to do. */
export class StoreFileError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'StoreFileError';
  /** Absolute path. */
  readonly file: string;

  /**
   * Whether only a person can mend it. An error of SQLite or the file system may pass by itself, as when a disk is full,
   * unless the file is damaged or no database.
   */
  get isLasting(): boolean {
    return this.cause === undefined || isDamaged(this.cause);
  }

  /** @param problem what is wrong and what to do, as in "is empty: name the file of a store" */
  constructor(file: string, problem: string, options?: ErrorOptions) {
    super(`${file} ${problem.replaceAll(/\s+/g, ' ')}.`, options);
    this.file = file;
  }
}

/** Makes an error of SQLite, the file system or Node.js, the `reason`, one of this file. Returns others as they are. */
export function storeFileError(
  file: string,
  error: unknown,
  problem: (reason: string) => string,
): unknown {
  const cause = error instanceof UnavailableError ? error.cause : error;
  if (isBusy(cause) || !isError(cause)) return error;
  // `permission`: refused by Node.js's permission model.
  if (!['errcode', 'syscall', 'permission'].some((property) => property in cause)) return error;
  const isDenied = 'code' in cause && cause.code === 'EACCES';
  const user = isDenied ? `, as the user ${process.getuid?.()}` : '';
  return new StoreFileError(file, problem(cause.message + user), { cause });
}

export const OTHER_FILE = 'name another file for the store';
export const RESTORE = `restore a backup, or ${OTHER_FILE}`;

/** With `-journal` at its end, a path fills the 512 bytes that SQLite has for it. */
const LONGEST_PATH = 504;

/**
 * Finds the file of a store, or creates it empty, with the folders that are missing, for the user of this process alone.
 * Returns its path without symbolic links.
 */
export async function findOrCreateFile(path: string, mustExist: boolean): Promise<string> {
  if (Buffer.byteLength(path) > LONGEST_PATH)
    throw new StoreFileError(
      path,
      `is longer than ${LONGEST_PATH} bytes, the most of SQLite: use a shorter one`,
    );
  // `existsSync` is silent about a folder that may not be read.
  if (fs.statSync(path, { throwIfNoEntry: false }) === undefined) {
    if (mustExist) throw new StoreFileError(path, 'does not exist: name the file of a store');
    await createFile(path);
  }
  return fs.realpathSync.native(path); // the other reads every link on the way, which permissions may not cover
}

/** Creates the folders of a file that are missing. */
export async function createFolders(file: string): Promise<void> {
  const missing: string[] = [];
  let folder = dirname(file);
  for (; !fs.existsSync(folder); folder = dirname(folder)) missing.unshift(folder);
  if (missing.length > 0 && 'permission' in process && !(await syncFolder(folder))) {
    const why = "Node.js's permission model does not let a new one be synced";
    throw new StoreFileError(
      file,
      `is in a folder that does not exist, and ${why}: create the folder first`,
    );
  }
  // One by one: `recursive` never ends below /proc.
  for (const folder of missing) await create(folder, () => fs.mkdirSync(folder, { mode: 0o700 }));
}

async function createFile(file: string): Promise<void> {
  await createFolders(file);
  // SQLite would drop such a log, or take it for the new file's own. With the file, it is another process's.
  const leftOver = [`${file}-wal`, `${file}-journal`].find(hasContent);
  if (leftOver !== undefined && !fs.existsSync(file)) {
    const advice = 'put the file back, or remove what is left of it';
    throw new StoreFileError(file, `is missing, but ${leftOver} exists: ${advice}`);
  }
  // SQLite gives the files beside it the same mode. Where the folder cannot be synced now, SQLite does it when it creates
  // its log, before the first commit.
  await create(file, () => fs.closeSync(fs.openSync(file, 'wx', 0o600)));
}

/** Creates a file or folder, unless another process is faster, and brings its name to the disk. */
async function create(path: string, make: () => void): Promise<void> {
  try {
    make();
  } catch (error) {
    if (Object(error).code !== 'EEXIST') throw error;
  }
  await syncFolder(dirname(path));
}

/** Brings the names in a folder to the disk. Returns `false` if Node.js's permission model forbids it: from 26 on. */
export async function syncFolder(path: string): Promise<boolean> {
  if (process.platform === 'win32') return true; // cannot sync folders
  const folder = await open(path); // up to 24 the permission model allows no other sync than a FileHandle's
  try {
    await folder.sync();
    return true;
  } catch (error) {
    if (Object(error).code === 'ERR_ACCESS_DENIED') return false;
    throw error;
  } finally {
    await folder.close();
  }
}

/** A power cut at the first start may leave an empty log, which holds nothing. */
export const hasContent = (path: string): boolean =>
  (fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** Whether the file of a store is new: another process may have created it a moment ago. */
export function isEmpty(file: string, mustExist: boolean): boolean {
  // Looked for first: a process that is creating the store writes the log after the file.
  const hasLog = hasContent(`${file}-wal`);
  const stats = fs.statSync(file);
  if (!stats.isFile()) throw new StoreFileError(file, `is not a regular file: ${OTHER_FILE}`);
  if (stats.size > 0) return false;
  if (hasLog) throw new StoreFileError(file, `is empty, but ${file}-wal exists: ${RESTORE}`);
  if (mustExist) throw new StoreFileError(file, 'is empty: name the file of a store');
  return true;
}

/**
 * Refuses a file that cannot be written, or may have a second name in another folder. SQLite keeps its log beside the
 * name, so processes that use two names would overwrite each other's animals.
 */
export function requireWritable(file: string): void {
  fs.accessSync(file, fs.constants.W_OK); // or SQLite would open it for reading only
  if (fs.statSync(file).nlink > 1)
    throw new StoreFileError(
      file,
      'has more than one hard link: remove the others, as a store has one name',
    );
  if (isMountPoint(file))
    throw new StoreFileError(
      file,
      'is itself a mount point: mount the folder of the store, not the file',
    );
}

/** Only Linux mounts files. https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html */
function isMountPoint(file: string): boolean {
  const escaped = file.replaceAll(
    /[\t\n \\]/g,
    (c) => `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  try {
    const mounts = fs.readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    return mounts.some((mount) => mount.split(' ')[4] === escaped);
  } catch {
    return false; // another system, or Node.js's permission model
  }
}

/** Distinguishes a file from any that takes its place: its device and inode. */
function fileIdentity(path: string): string | undefined {
  const stats = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

/** The coarsest resolution of the times of folders, in milliseconds (FAT): two changes within it may look like one. */
const TIME_RESOLUTION = 2_000n;

/**
 * Returns a function that names a file of a folder that was removed or replaced since. It looks at the files only if the
 * folder changed: since Linux 6.13, reading the times of a file costs one more write to the disk at its next sync.
 */
export function watchPlaces(...paths: [string, ...string[]]): () => string | undefined {
  const places = paths.map((path) => ({ path, identity: fileIdentity(path) }));
  /** The folder's state when all files were in place, if every later change to it will show. */
  let seen: string | undefined;
  return () => {
    const folder = fs.statSync(dirname(paths[0]), { bigint: true, throwIfNoEntry: false });
    const state = folder && `${folder.dev}:${folder.ino} ${folder.ctimeNs}`;
    if (state !== undefined && state === seen) return undefined;
    const moved = places.find(({ path, identity }) => fileIdentity(path) !== identity);
    if (!moved && folder && BigInt(Date.now()) - folder.ctimeMs >= TIME_RESOLUTION) seen = state;
    return moved?.path;
  };
}
