import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore, type SqliteStoreOptions } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import type { AddOptions, Claim } from '../../../src/application/ports/pet-repository.js';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import type { UnsavedPet } from '../../../src/domain/pet.js';

/** In memory where that is possible: tests create hundreds of stores, and none of them needs a disk. */
const parent = process.env['TMPDIR'] ?? (existsSync('/dev/shm') ? '/dev/shm' : tmpdir());

/** A folder for one test. */
export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(parent, 'animal-store-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Runs a test in its own folder. */
export const inFolder =
  (test: (folder: string) => Promise<void>): (() => Promise<void>) =>
  async () => {
    const folder = await temporaryFolder();
    try {
      await test(folder.path);
    } finally {
      await folder.remove();
    }
  };

/** Copies a store that is open, as a crash would leave it: the file, and what stands beside it. */
export async function copyAsCrashed(
  file: string,
  copy: string,
  suffixes = ['', '-wal', '-shm'],
): Promise<void> {
  for (const suffix of suffixes) await writeFile(copy + suffix, await readFile(file + suffix));
}

/** A closed, empty store of schema version 2. */
export async function makeOldStore(file: string): Promise<void> {
  await (await openSqliteStore(file)).close();
  const database = new DatabaseSync(file);
  database.exec(
    'ALTER TABLE claims RENAME COLUMN key TO token; ALTER TABLE api_keys ADD COLUMN replaced_by TEXT',
  );
  database.exec('PRAGMA user_version = 2');
  database.close();
}

/** A store for one test, with what only tests need. */
export interface TestStore extends CompleteStore {
  readonly file: string;
  /** The store's own connection, for faults that have to happen on it. */
  readonly connection: DatabaseSync;
}

/** Opens a store, and returns each call of `method` on its connections until then. */
export async function observed(
  method: 'exec' | 'prepare',
  file: string,
  options?: SqliteStoreOptions,
): Promise<{ store: CompleteStore; calls: { connection: DatabaseSync; sql: string }[] }> {
  const calls: { connection: DatabaseSync; sql: string }[] = [];
  const methods = DatabaseSync.prototype as unknown as Record<string, (sql: string) => unknown>;
  const original = methods[method];
  methods[method] = function (this: DatabaseSync, sql) {
    calls.push({ connection: this, sql });
    return original?.call(this, sql);
  };
  try {
    return { store: await openSqliteStore(file, options), calls };
  } finally {
    if (original) methods[method] = original;
  }
}

/** Runs a test on a new store, and closes the store. */
export const onStore = (
  test: (store: TestStore) => Promise<void>,
  options?: SqliteStoreOptions,
): (() => Promise<void>) =>
  inFolder(async (folder) => {
    const file = join(folder, 'animals.db');
    const { store, calls } = await observed('exec', file, options);
    const last = calls.at(-1);
    if (last === undefined) throw new Error('the store used no connection');
    try {
      await test({ ...store, file, connection: last.connection });
    } finally {
      await store.close();
    }
  });

export const rex: UnsavedPet = Object.freeze({ name: 'Rex', categoryId: 7n, status: 'available' });

/** Options of an add with this idempotency key, at second 1,000 unless `now` says otherwise. */
export const claimOn = (
  key: string,
  { now = new Date(1_000_000), ...claim }: Partial<Claim> & { now?: Date } = {},
): AddOptions => ({
  claim: { scope: 'an API key', key, fingerprint: 'rex', keepUntil: new Date(2_000_000), ...claim },
  now,
});

export { rejectionOf as rejection } from '../../contract/rejection.js';
