import { expect } from 'chai';
import type { Collection, Db } from 'mongodb';
import { openMongoStore, type MongoStoreOptions } from '../../../src/adapters/mongodb/index.js';
import type { Claim, PetRepository } from '../../../src/application/ports/pet-repository.js';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import type { Pet, UnsavedPet } from '../../../src/domain/pet.js';
import { rejectionOf as rejection } from '../../contract/rejection.js';
import { sampleApiKey, sampleClaim } from '../../contract/samples.js';
import { until } from '../../until.js';
import { unavailable as causeOf } from '../unavailable.js';
import { MongoProxy } from './mongo-proxy.js';
import { clientOf, describeOnMongo, inDatabase, uriOf, type MongoServer } from './mongo-server.js';

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
  /** What the store has said since it was first used. */
  readonly notices: string[];
}

interface BenchOptions extends MongoStoreOptions {
  readonly host?: string;
  /** More options of the URL, with `&`. */
  readonly query?: string;
}

/** Opens a store. `notices` grows with what it says. */
export async function openNoting(
  url: string,
  options: MongoStoreOptions = {},
): Promise<Pick<Bench, 'store' | 'notices'>> {
  const notices: string[] = [];
  const onNotice = (line: string): void => void notices.push(line);
  const store = await openMongoStore(url, { ...options, onNotice });
  return { store, notices };
}

/** Has the store connect: on a busy machine that may take longer than the timeout under test. */
async function firstUse({ pets }: CompleteStore): Promise<void> {
  for (let left = 20; left > 0; left -= 1) {
    if (await pets.list({ limit: 1 }).catch(() => undefined)) return;
  }
}

/** Runs a test on a store in a database of its own. It is patient: machines are busy. */
const benchTest = (
  server: MongoServer,
  { host, query = '', timeout = 20_000 }: BenchOptions,
  test: (bench: Bench) => Promise<void>,
): (() => Promise<void>) =>
  inDatabase(server, async (database) => {
    const url = uriOf(server, database, host) + query;
    const { store, notices } = await openNoting(url, { timeout });
    const opened = [store];
    const open = async (): Promise<CompleteStore> => {
      const other = await openMongoStore(url, { timeout });
      opened.push(other);
      return other;
    };
    const db = clientOf(server).db(database);
    const collection = (name: string) => db.collection<AnyDocument>(name);
    try {
      await firstUse(store);
      notices.length = 0;
      await test({
        store,
        db,
        collection,
        open,
        notices,
      });
    } finally {
      for (const each of opened) await each.close();
    }
  });

/** The cases of a suite, each with a store in a database of its own. */
const storeCases = (server: MongoServer) => ({
  server,
  onStore: (title: string, test: (bench: Bench) => Promise<void>) =>
    it(title, benchTest(server, {}, test)),
  /** The store reaches the server through a proxy. */
  throughProxy: (
    title: string,
    options: BenchOptions,
    test: (bench: Bench & { readonly proxy: MongoProxy }) => Promise<void>,
  ) =>
    it(title, async () => {
      const proxy = await new MongoProxy(server).open();
      const throughHost = { ...options, host: proxy.host };
      const run = benchTest(server, throughHost, (bench) => test({ ...bench, proxy }));
      try {
        await run();
      } finally {
        await proxy.close();
      }
    }),
});

/** A suite on the server that all files share. */
export const describeStore = (
  title: string,
  body: (cases: ReturnType<typeof storeCases>) => void,
): void => describeOnMongo(title, (server) => body(storeCases(server)));

export const rex: UnsavedPet = Object.freeze({
  name: 'Rex',
  categoryId: 7n,
  status: 'available',
});

export const apiKey = Object.freeze(sampleApiKey({ id: 'k' }));

/** A claim that is live for a day. */
export const claimOn = (key: string, change: Partial<Claim> = {}): Claim =>
  sampleClaim({
    scope: 'a key',
    key,
    fingerprint: 'rex',
    ...change,
  });

/** Adds Rex at most once for a claim. */
export const addOnce = ({ pets }: Pick<CompleteStore, 'pets'>, claim = claimOn('t')) =>
  pets.addOnce(rex, claim, Date.now());

export { rejection };

/** Checks that exactly these animals are stored, in ascending order of their ids. */
export async function expectListed(pets: PetRepository, expected: readonly Pet[]): Promise<void> {
  const listed = await pets.list({ limit: 100 });
  expect(listed, 'all animals').to.deep.equal(expected);
}

/** Why a call cannot be served: the message of the cause of what it rejects with. */
export async function unavailable(call: Promise<unknown>): Promise<string> {
  const cause = await causeOf(call);
  expect(cause).to.have.property('message').that.is.a('string');
  return cause.message;
}

/** The result of a call that may need several tries: its timeout is short, and machines are busy. */
export const succeeding = <T extends object>(call: () => Promise<T | undefined>): Promise<T> =>
  until('the call succeeds', () => call().catch(() => undefined));

/**
 * Resolves when a store does nothing in the background. Opening prepares the database, and so does the first id: each time,
 * that ends with a search for documents that lists pass over.
 */
export const untilPrepared = ({ commands }: MongoProxy): Promise<boolean> =>
  until('the database is prepared', () => {
    const searches = commands.filter(({ find, filter }) => find === 'pets' && '$or' in filter);
    return searches.length >= 2;
  });

/** Resolves when a store has said of each index of a new database that it is made: that happens in the background. */
export async function untilIndexed(notices: readonly string[]): Promise<void> {
  const areMade = () => notices.filter((line) => line.startsWith('made the index ')).length === 3;
  const isRefused = () => notices.some((line) => line.includes('not prepared'));
  await until('the indexes are made', () => areMade() || isRefused());
  expect(areMade(), notices.join('; ')).to.equal(true);
}

export const untilReady = (store: CompleteStore): Promise<boolean> =>
  until('the store is ready', async () => {
    try {
      await store.check({ signal: AbortSignal.timeout(1000) });
      return true;
    } catch {
      return false;
    }
  });
