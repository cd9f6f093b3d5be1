import { expect } from 'chai';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { StoreFileError } from '../../../src/adapters/sqlite/store-file-error.js';
import type { Claim, PetRepository } from '../../../src/application/ports/pet-repository.js';
import type { CompleteStore, OpenOptions } from '../../../src/application/ports/store.js';
import type { Pet, UnsavedPet } from '../../../src/domain/pet.js';
import { rejectionOf as rejection } from '../../contract/rejection.js';
import type { Claiming } from '../../contract/samples.js';
import { removeFolders, temporaryFolder } from '../../temporary-folder.js';
import { unavailable } from '../unavailable.js';

/** In memory where that is possible: tests create hundreds of stores, and none of them needs a disk. */
const parent = process.env['TMPDIR'] ?? (existsSync('/dev/shm') ? '/dev/shm' : tmpdir());

const open: CompleteStore[] = [];

/** Closes the stores of a test and removes its folders. */
export async function cleanUp(): Promise<void> {
  await Promise.all(open.splice(0).map((store) => store.close())).finally(removeFolders);
}

/** A folder for one test; `cleanUp` removes it. */
export const testFolder = (): string => temporaryFolder(parent);

/** The path of a store that a test makes, and its folder. */
export function testFile(): { readonly folder: string; readonly file: string } {
  const folder = testFolder();
  return { folder, file: join(folder, 'animals.db') };
}

/** The files of a folder, each with its name, its number and a hash of its content. */
export async function stateOf(folder: string): Promise<readonly string[]> {
  const describe = async (name: string): Promise<string> => {
    // Readers leave marks in the index of a log.
    const content = name.endsWith('-shm') ? '' : await readFile(join(folder, name));
    return `${name} ${(await stat(join(folder, name))).ino} ${hash('sha256', content)}`;
  };
  return Promise.all((await readdir(folder)).sort().map(describe));
}

/** The permissions of a file or folder, in octal. */
export const modeOf = async (path: string): Promise<string> =>
  ((await stat(path)).mode & 0o777).toString(8);

/** What a query finds in a file. Changes nothing beside it. */
export function queried(file: string, sql: string): unknown {
  using database = new DatabaseSync(file, { readOnly: true });
  return Object.values(database.prepare(sql).get() ?? {})[0];
}

/** Changes a file in ways that a store does not. */
export function change(file: string, sql: string): void {
  using database = new DatabaseSync(file);
  database.exec(sql);
}

/** Copies a store that is open, as a crash would leave it: the file, and what stands beside it. Returns the copy's path. */
export async function copyAsCrashed(file: string, copy = `${file}.crashed`): Promise<string> {
  for (const suffix of ['', '-wal', '-shm', '-journal'])
    if (existsSync(file + suffix)) await writeFile(copy + suffix, await readFile(file + suffix));
  return copy;
}

/** A closed store that holds `count` animals. */
export async function makeStore(file: string, count = 1): Promise<void> {
  const store = await openSqliteStore(file);
  const names = Array.from({ length: count }, (_, index) => `Rex ${index}`);
  await Promise.all(names.map((name) => store.pets.add({ ...rex, name })));
  await store.close();
}

/** A closed store of version 0.3. */
export async function makeOldStore(file: string): Promise<void> {
  await makeStore(file);
  change(file, 'PRAGMA user_version = 3');
}

/** A store for one test, with what only tests need. */
export interface TestStore extends CompleteStore {
  readonly file: string;
  /** The store's own connection, for faults that have to happen on it. */
  readonly connection: DatabaseSync;
}

type Method = 'exec' | 'prepare';

/** Calls `before` first in each call of `method`, on any connection. Returns the function that ends this. */
export function intercept(
  method: Method,
  before: (sql: string, connection: DatabaseSync) => void,
): () => void {
  const methods = DatabaseSync.prototype as unknown as Record<Method, (sql: string) => unknown>;
  const original = methods[method];
  methods[method] = function (this: DatabaseSync, sql) {
    before(sql, this);
    return original.call(this, sql);
  };
  return () => {
    methods[method] = original;
  };
}

/** Opens a store, and returns each call of `method` on its connections until then. */
export async function observed(method: Method, file: string, options?: OpenOptions) {
  const calls: { connection: DatabaseSync; sql: string }[] = [];
  const end = intercept(method, (sql, connection) => void calls.push({ connection, sql }));
  return { store: await openSqliteStore(file, options).finally(end), calls };
}

/** An open store for one test, a new one if it names no file; `cleanUp` closes it. */
export async function testStore(file = testFile().file, options?: OpenOptions): Promise<TestStore> {
  const { store, calls } = await observed('exec', file, options);
  open.push(store);
  const last = calls.at(-1);
  if (last === undefined) throw new Error('the store used no connection');
  return { ...store, file, connection: last.connection };
}

export const rex: UnsavedPet = Object.freeze({ name: 'Rex', categoryId: 7n, status: 'available' });

/** A claim of this idempotency key, at second 1,000 unless `now` says otherwise. */
export const claimOn = (
  key: string,
  { now = 1_000_000, ...claim }: Partial<Claim> & { now?: number } = {},
): Claiming => [
  { scope: 'an API key', key, fingerprint: 'rex', keepUntil: 2_000_000, ...claim },
  now,
];

/** Every animal of a store. */
export const allPets = (pets: PetRepository): Promise<readonly Pet[]> => pets.list({ limit: 9999 });

/** Checks that a call is refused in one line that matches `problem`. */
export async function expectStoreFileError(
  call: Promise<unknown>,
  problem: RegExp,
): Promise<unknown> {
  const error = await rejection(call);
  expect(error).to.be.instanceOf(StoreFileError);
  expect(error).to.have.property('message').that.matches(problem).and.does.not.include('\n');
  return error;
}

export { rejection, unavailable };
