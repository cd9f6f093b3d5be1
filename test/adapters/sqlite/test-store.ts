import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { StoreFileError, openSqliteStore } from '../../../src/adapters/sqlite/index.js';
import type { CompleteStore, OpenOptions } from '../../../src/application/ports/store.js';
import { rejectionOf } from '../../contract/rejection.js';
import { removeFolders, temporaryFolder } from '../../temporary-folder.js';

/** In memory where that is possible: tests create hundreds of stores, and none of them needs a disk. */
const parent = process.env['TMPDIR'] ?? (existsSync('/dev/shm') ? '/dev/shm' : tmpdir());

const opened: CompleteStore[] = [];

/** Closes the stores of a test and removes its folders. */
export async function cleanUp(): Promise<void> {
  await Promise.all(opened.splice(0).map((store) => store.close()));
  removeFolders();
}

export const testFolder = (): string => temporaryFolder(parent);

/** The path of a file in a folder of its own. */
export const testFile = (): string => join(testFolder(), 'animals.db');

/** Opens a store that `cleanUp` closes. */
export async function open(file: string, options?: OpenOptions): Promise<CompleteStore> {
  const store = await openSqliteStore(file, options);
  opened.push(store);
  return store;
}

export const rex = Object.freeze({ name: 'Rex', categoryId: 7n, status: 'available' });

/** The file of a closed store that holds three animals. */
export async function closedStore(file = testFile()): Promise<string> {
  await using store = await openSqliteStore(file);
  for (const name of ['Rex', 'Bella', 'Max']) await store.pets.add({ ...rex, name });
  return file;
}

/** How many animals a store of at most 1,000 holds. */
export const countOf = async ({ pets }: CompleteStore): Promise<number> =>
  (await pets.list({ limit: 1000 })).length;

/** Opens a connection as another program does, and runs SQL. Its locks stay until it is closed. */
export function connect(file: string, sql: string): DatabaseSync {
  const database = new DatabaseSync(file);
  database.exec(sql);
  return database;
}

/** Runs a module in another process, with the exports of this adapter, `rex` and `file`. Resolves to its output. */
export async function inOtherProcess(file: string, script: string, ...wrapper: string[]) {
  const module = JSON.stringify(import.meta.resolve('../../../src/adapters/sqlite/index.js'));
  const beginning = `
    import { openSqliteStore, backUpSqliteStore } from ${module};
    const file = ${JSON.stringify(file)};
    const rex = { name: 'Rex', categoryId: 7n, status: 'available' };`;
  const node = [process.execPath, '--input-type=module', '-e', beginning + script];
  const child = spawn('env', [...wrapper, ...node], { stdio: ['ignore', 'pipe', 'inherit'] });
  return text(child.stdout);
}

/** The files of a folder and their contents. Without what readers leave: a `-shm`, and an empty `-wal`. */
export const stateOf = (folder: string): ReadonlyArray<readonly [string, string]> =>
  readdirSync(folder)
    .map((name) => [name, readFileSync(join(folder, name), 'latin1')] as const)
    .filter(
      ([name, content]) => !(name.endsWith('-shm') || (name.endsWith('-wal') && content === '')),
    );

/** The permissions of files and folders, in octal. */
export const modesOf = (...paths: readonly string[]): readonly string[] =>
  paths.map((path) => (statSync(path).mode & 0o777).toString(8));

/** Checks that a call is refused in one line, and by default that only a person can mend it. */
export async function refused(
  call: Promise<unknown>,
  problem: RegExp | string,
  isPermanent = true,
) {
  const error = (await rejectionOf(call)) as Error;
  expect(error).to.be.instanceOf(StoreFileError).and.have.property('isPermanent', isPermanent);
  expect(error.message).to.match(new RegExp(problem)).and.not.include('\n');
}
