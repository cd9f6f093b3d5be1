import { randomUUID } from 'node:crypto';
import { link, mkdir, open, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { APPLICATION_ID, upgradeSchema } from './schema.js';
import { StoreFileError, messageOf } from './store-file-error.js';
import { SIDE_FILES, statOf } from './store-file.js';

/**
 * Finds the file of a store or, where there is none and it need not exist, makes it and the folders it is in.
 * Whoever makes it, it appears whole under its name, or not at all. Returns its path without symbolic links.
 * @throws {StoreFileError}
 */
export async function findOrCreateStoreFile(
  path: string,
  migrations: readonly string[],
  { mustExist }: { readonly mustExist: boolean },
): Promise<string> {
  try {
    if (statOf(path) === undefined) {
      if (mustExist) throw new StoreFileError(path, 'is not there: name the file of a store');
      await createStoreFile(path, migrations);
    }
    return await realpath(path);
  } catch (cause) {
    if (cause instanceof StoreFileError) throw cause;
    throw new StoreFileError(
      path,
      `cannot be opened or made (${messageOf(cause)}): name another file for the store`,
      { cause },
    );
  }
}

async function createStoreFile(path: string, migrations: readonly string[]): Promise<void> {
  const folder = dirname(path);
  await makeFolder(folder);
  // SQLite would take such a log for the new file's own. Looked for first the one, then the other: a log
  // beside a file is another process that was faster.
  const leftOver = SIDE_FILES.find((suffix) => statOf(path + suffix) !== undefined);
  if (leftOver !== undefined && statOf(path) === undefined) {
    throw new StoreFileError(
      path,
      `is missing, but ${path}${leftOver} is there: put the file back, or remove what is left of it`,
    );
  }
  const draft = join(folder, `.${basename(path).slice(0, 50)}.${randomUUID()}.new`);
  try {
    const database = new DatabaseSync(draft);
    try {
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
      upgradeSchema(database, migrations);
      database.exec('PRAGMA journal_mode = WAL');
    } finally {
      database.close();
    }
    await synchronize(draft);
    await link(draft, path).catch(unlessThere);
    await synchronize(folder);
  } finally {
    for (const suffix of ['', ...SIDE_FILES]) await rm(draft + suffix, { force: true });
  }
}

/** Makes the folder and those it is in, and has them on the disk before anything is put into them. */
async function makeFolder(folder: string): Promise<void> {
  const missing: string[] = [];
  for (let each = folder; statOf(each) === undefined; each = dirname(each)) missing.unshift(each);
  // One by one: `recursive` never ends where a folder is said to be missing that is there, as in /proc.
  for (const each of missing) await mkdir(each).catch(unlessThere);
  for (const each of missing.toReversed()) await synchronize(dirname(each));
}

/** Another process was faster, and what it made is as good. */
function unlessThere(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
}

async function synchronize(path: string): Promise<void> {
  if (process.platform === 'win32' && statOf(path)?.isDirectory()) return; // cannot be done there
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
