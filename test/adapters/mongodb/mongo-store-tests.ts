import {
  openMongoStore,
  type MongoStore,
  type MongoStoreOptions,
} from '../../../src/adapters/mongodb/open-mongo-store.js';
import type { Claim } from '../../../src/application/ports/pet-repository.js';
import type { UnsavedPet } from '../../../src/domain/pet.js';
import { MongoProxy } from './mongo-proxy.js';
import { dropDatabase, newDatabaseName, uriOf, type MongoServer } from './mongo-server.js';

/** Runs a test with a database of its own, dropped afterwards. */
export const inDatabase =
  (server: MongoServer, test: (database: string) => Promise<void>): (() => Promise<void>) =>
  async () => {
    const database = newDatabaseName();
    try {
      await test(database);
    } finally {
      await dropDatabase(server, database);
    }
  };

/**
 * Opens a store whose collections are there already, for a test that writes into them beside it. They are made while
 * nobody waits, and the server of a test may hang for ever when one client makes a collection while another writes.
 */
export async function openMadeStore(url: string, options?: MongoStoreOptions): Promise<MongoStore> {
  const store = await openMongoStore(url, options);
  await store.pets.check();
  return store;
}

/** What is told of the first start on an empty database, in alphabetical order. */
export const FIRST_START_TOLD: readonly string[] = [
  'made the collection apiKeys',
  'made the collection claims',
  'made the collection deprecatedCalls',
  'made the collection pets',
  'made the index keepUntil_1 on claims',
  'made the index status_1__id_1 on pets',
];

/** Runs a test on a store that reaches the server through a proxy; all of it is closed afterwards. */
export const throughProxy = (
  server: MongoServer,
  test: (store: MongoStore, proxy: MongoProxy, database: string) => Promise<void>,
  options: MongoStoreOptions = {},
): (() => Promise<void>) =>
  inDatabase(server, async (database) => {
    const proxy = await new MongoProxy(server).open();
    const store = await openMongoStore(uriOf(server, database, { host: proxy.host }), options);
    try {
      await test(store, proxy, database);
    } finally {
      await store.close();
      await proxy.close();
    }
  });

export const rex: UnsavedPet = Object.freeze({ name: 'Rex', categoryId: 7n, status: 'available' });

export const claimOn = (token: string, change: Partial<Claim> = {}): Claim => ({
  scope: 'a key',
  token,
  fingerprint: 'rex',
  now: new Date(),
  keepUntil: new Date(Date.now() + 24 * 60 * 60 * 1000),
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
