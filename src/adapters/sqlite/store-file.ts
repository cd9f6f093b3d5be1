import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '../file-system.js';
import { OTHER_FILE, RESTORE, StoreFileError } from './store-file-error.js';

/** In bytes. With `-journal` at its end, a path fills the 512 that SQLite has for it. */
const LONGEST_PATH = 504;

/** A path without symbolic links. Not plain `realpathSync`, which reads every link on the way: that may be forbidden. */
export const realPath = fs.realpathSync.native;

/** Finds the file of a store. Returns its path without symbolic links. */
export function findFile(path: string): string {
  requireShortPath(path);
  if (!exists(path)) throw new StoreFileError(path, 'does not exist: name the file of a store');
  return realPath(path);
}

/** As `findFile`, but creates a missing file, empty, and missing folders, for the user of this process alone. */
export async function findOrCreateFile(path: string): Promise<string> {
  requireShortPath(path);
  if (!exists(path)) {
    await createFolders(path);
    requireNothingLeft(path);
    // SQLite gives the files beside it the same mode. If the folder cannot be synced now, SQLite syncs it when it creates
    // its log, before the first commit.
    await create(path, () => fs.closeSync(fs.openSync(path, 'wx', 0o600)));
  }
  return realPath(path);
}

function requireShortPath(path: string): void {
  if (Buffer.byteLength(path) > LONGEST_PATH)
    throw new StoreFileError(
      path,
      `is longer than ${LONGEST_PATH} bytes, the most of SQLite: use a shorter one`,
    );
}

/** Whether a file exists. Unlike `existsSync`, it throws if it may not look into the folder. */
const exists = (path: string): boolean =>
  fs.statSync(path, { throwIfNoEntry: false }) !== undefined;

/** Creates the folders of a file that are missing. */
export async function createFolders(file: string): Promise<void> {
  const folder = dirname(file);
  if (fs.existsSync(folder)) return;
  // One by one: `recursive` never ends below /proc.
  await createFolders(folder);
  if ('permission' in process && !(await syncFolder(dirname(folder)))) {
    const why = "Node.js's permission model does not let a new one be synced";
    throw new StoreFileError(folder, `does not exist, and ${why}: create the folder first`);
  }
  await create(folder, () => fs.mkdirSync(folder, { mode: 0o700 }));
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

/** Refuses a missing file whose log exists: SQLite would drop the log, or take it for the new file's own. */
function requireNothingLeft(file: string): void {
  const left = [`${file}-wal`, `${file}-journal`].find(hasContent);
  // If the file exists now, another process is creating it.
  if (left === undefined || fs.existsSync(file)) return;
  const advice = 'put the file back, or remove what is left of it';
  throw new StoreFileError(file, `is missing, but ${left} exists: ${advice}`);
}

/** Whether a file exists and is not empty. A power cut at the first start may leave an empty log, which holds nothing. */
export const hasContent = (path: string): boolean =>
  (fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** Refuses what is not a regular file, and an empty one whose animals may be in the log beside it. */
export function requireStoreFile(file: string): void {
  // The log first: a process that is creating the store writes the file, then the log.
  const hasLog = hasContent(`${file}-wal`);
  if (!fs.statSync(file).isFile())
    throw new StoreFileError(file, `is not a regular file: ${OTHER_FILE}`);
  if (hasLog && !hasContent(file))
    throw new StoreFileError(file, `is empty, but ${file}-wal exists: ${RESTORE}`);
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
    (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  try {
    const mounts = fs.readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    return mounts.some((mount) => mount.split(' ')[4] === escaped);
  } catch {
    return false; // another system, or Node.js's permission model
  }
}
