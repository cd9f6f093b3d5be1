import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  openSqliteConnection,
  type SqliteConnectionOptions,
} from '../../../src/adapters/sqlite/open-sqlite-connection.js';
import { openSqliteStore, type SqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import type { SqliteConnection } from '../../../src/adapters/sqlite/sqlite-connection.js';
import { SqlitePetRepository } from '../../../src/adapters/sqlite/sqlite-pet-repository.js';
import type { Claim } from '../../../src/application/ports/pet-repository.js';
import type { UnsavedPet } from '../../../src/domain/pet.js';

/** A folder for one test; `remove` takes it away with all that is in it. */
export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'animal-store-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Runs a test in a folder of its own. */
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

/** Runs a test on a new store, closed afterwards. */
export const onStore = (
  test: (store: SqliteStore) => Promise<void>,
  options: { busyTimeout?: number } = {},
): (() => Promise<void>) =>
  inFolder(async (folder) => {
    const store = await openSqliteStore(join(folder, 'animals.db'), options);
    try {
      await test(store);
    } finally {
      await store.close();
    }
  });

/** Runs a test on a new store's connection, for what has to be done to the connection itself. */
export const onConnection = (
  test: (connection: SqliteConnection, pets: SqlitePetRepository) => Promise<void>,
  options?: SqliteConnectionOptions,
): (() => Promise<void>) =>
  inFolder(async (folder) => {
    const connection = await openSqliteConnection(join(folder, 'animals.db'), options);
    const pets = new SqlitePetRepository(connection);
    try {
      await test(connection, pets);
    } finally {
      await pets.close();
    }
  });

export const rex: UnsavedPet = Object.freeze({ name: 'Rex', categoryId: 7n, status: 'available' });

export const claimOn = (token: string, change: Partial<Claim> = {}): Claim => ({
  scope: 'a key',
  token,
  fingerprint: 'rex',
  now: new Date(1_000_000),
  keepUntil: new Date(2_000_000),
  ...change,
});

/** What the promise rejects with. Fails when it does not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('the promise was expected to reject');
}
