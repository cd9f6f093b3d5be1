import type { Collection, Db } from 'mongodb';
import { openMongoStore, type MongoStoreOptions } from '../../../src/adapters/mongodb/index.js';
import type { Claim } from '../../../src/application/ports/pet-repository.js';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import type { UnsavedPet } from '../../../src/domain/pet.js';
import { sampleApiKey, sampleClaim } from '../../contract/samples.js';
import { MongoProxy } from './mongo-proxy.js';
import { clientOf, inDatabase, uriOf, type MongoServer } from './mongo-server.js';

/** A document of any shape. */
export interface AnyDocument {
  readonly _id: unknown;
  readonly [field: string]: unknown;
}

/** A store, and what a test needs beside it. */
export interface Bench {
  readonly store: CompleteStore;
  readonly db: Db;
  /** A collection, whatever is in it. */
  readonly collection: (name: string) => Collection<AnyDocument>;
  /** Opens the same database once more. It is closed with the test. */
  readonly open: () => Promise<CompleteStore>;
}

interface BenchOptions extends MongoStoreOptions {
  readonly host?: () => string;
  /** More options of the URL, with `&`. */
  readonly query?: string;
}

/** Has the store connect: on a busy machine that may take longer than the timeout under test. */
async function firstUse({ pets }: CompleteStore): Promise<void> {
  for (let left = 20; left > 0; left -= 1) {
    if (await pets.list({ limit: 1 }).catch(() => undefined)) return;
  }
}

/** Runs a test on a store in a database of its own. It is patient: machines are busy. */
export const onStore = (
  server: MongoServer,
  test: (bench: Bench) => Promise<void>,
  { host, query = '', timeout = 20_000, ...options }: BenchOptions = {},
): (() => Promise<void>) =>
  inDatabase(server, async (database) => {
    const opened: CompleteStore[] = [];
    const open = async (): Promise<CompleteStore> => {
      const uri = uriOf(server, database, host && { host: host() }) + query;
      const store = await openMongoStore(uri, { timeout, ...options });
      opened.push(store);
      return store;
    };
    const store = await open();
    try {
      await firstUse(store);
      const db = clientOf(server).db(database);
      await test({ store, db, collection: (name) => db.collection<AnyDocument>(name), open });
    } finally {
      for (const each of opened) await each.close();
    }
  });

/** Runs a test on a store that reaches the server through a proxy. */
export const throughProxy =
  (
    server: MongoServer,
    test: (bench: Bench & { readonly proxy: MongoProxy }) => Promise<void>,
    options?: BenchOptions,
  ): (() => Promise<void>) =>
  async () => {
    const proxy = await new MongoProxy(server).open();
    try {
      await onStore(server, (bench) => test({ ...bench, proxy }), { ...options, host: () => proxy.host })();
    } finally {
      await proxy.close();
    }
  };

export const rex: UnsavedPet = Object.freeze({ name: 'Rex', categoryId: 7n, status: 'available' });

export const apiKey = Object.freeze(sampleApiKey({ id: 'k' }));

/** A claim that is live for a day. */
export const claimOn = (key: string, change: Partial<Claim> = {}): Claim =>
  sampleClaim({ scope: 'a key', key, fingerprint: 'rex', ...change });

export { rejectionOf as rejection } from '../../contract/rejection.js';
