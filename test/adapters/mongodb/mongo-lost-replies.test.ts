import { expect } from 'chai';
import type { MongoStore } from '../../../src/adapters/mongodb/open-mongo-store.js';
import { describeOnMongo, uriOf, withDatabase, type MongoServer } from './mongo-server.js';
import { claimOn, inDatabase, rejection, rex, throughProxy } from './mongo-store-tests.js';
import { openMongoStore } from '../../../src/adapters/mongodb/open-mongo-store.js';

const KEY = {
  id: 'k',
  name: '',
  hash: '0'.repeat(64),
  scopes: [],
  createdAt: new Date(0),
} as const;

/** Every answer lost: more often than anything is tried. */
const ALWAYS = 1000;

const namesIn = (server: MongoServer, database: string): Promise<string[]> =>
  withDatabase(server, database, async (client) =>
    (await client.db().collection('pets').find().toArray()).map((pet) => String(pet['name'])),
  );

describeOnMongo('A MongoDB store whose answers get lost', (server) => {
  it(
    'adds one animal for each of 50 creates whose every insert loses its first two answers',
    throughProxy(server, async ({ pets }, proxy, database) => {
      await pets.check();
      const ids = new Set<bigint>();
      for (let number = 0; number < 50; number += 1) {
        proxy.dropReplies.set('insert', 2);
        const added = await pets.add({ ...rex, name: `Rex ${number}` });
        expect(added.replayed).to.equal(false);
        ids.add(added.pet.id);
      }
      expect(ids.size).to.equal(50);
      const names = await namesIn(server, database);
      expect(names).to.have.length(50);
      expect(new Set(names).size).to.equal(50);
    }),
  ).timeout(60_000);

  it(
    'goes on with ids when the counter loses its answers: they are gaps, and none is used twice',
    throughProxy(server, async ({ pets }, proxy) => {
      await pets.check();
      proxy.dropReplies.set('findAndModify', 3);
      const first = await pets.add(rex);
      const second = await pets.add(rex);
      expect(second.pet.id > first.pet.id).to.equal(true);
    }),
  );

  for (const command of ['insert', 'find']) {
    it(
      `creates once for a claim when every ${command} loses its first answers`,
      throughProxy(server, async ({ pets }, proxy, database) => {
        await pets.check();
        proxy.dropReplies.set(command, 3);
        const made = await pets.add(rex, { claim: claimOn('t') });
        expect(made.replayed).to.equal(false);
        proxy.dropReplies.set(command, 3);
        expect(await pets.add(rex, { claim: claimOn('t') })).to.deep.equal({ pet: made.pet, replayed: true });
        expect(await namesIn(server, database)).to.deep.equal(['Rex']);
      }),
    );
  }

  it(
    'finishes, when the create is repeated, what was cut off between the claim and the animal',
    throughProxy(server, async ({ pets }, _, database) => {
      const made = await pets.add(rex, { claim: claimOn('t') });
      await withDatabase(server, database, (client) => client.db().collection('pets').deleteMany({}));
      expect(await pets.add(rex, { claim: claimOn('t') })).to.deep.equal({ pet: made.pet, replayed: true });
      expect(await pets.list({ limit: 5 })).to.deep.equal([made.pet]);
    }),
  );

  it(
    'makes a lapsed claim anew once, though the answers of doing so are lost',
    throughProxy(server, async ({ pets }, proxy) => {
      const past = { now: new Date(1000), keepUntil: new Date(2000) };
      const first = await pets.add(rex, { claim: claimOn('t', past) });
      proxy.dropReplies.set('update', 2);
      const second = await pets.add(rex, { claim: claimOn('t') });
      expect(second.replayed).to.equal(false);
      expect(await pets.list({ limit: 5 })).to.deep.equal([first.pet, second.pet]);
    }),
  );

  it(
    'changes a key once, and adds one once, though the answers are lost',
    throughProxy(server, async ({ apiKeys }, proxy) => {
      proxy.dropReplies.set('insert', 2);
      expect(await apiKeys.add(KEY)).to.equal(true);
      proxy.dropReplies.set('update', 2);
      const changed = await apiKeys.update('k', (key) => ({ ...key, name: `${key.name}x` }));
      expect(changed).to.deep.equal({ ...KEY, name: 'x' });
      expect(await apiKeys.findById('k')).to.deep.equal(changed);
    }),
  );

  it(
    'says that it cannot tell when no answer comes at all: the animal is there at most once',
    throughProxy(
      server,
      async ({ pets }, proxy, database) => {
        await pets.add({ ...rex, name: 'first' });
        proxy.dropReplies.set('insert', ALWAYS);
        const error = await rejection(pets.add(rex));
        expect(error).to.have.property('code', 'service_unavailable');
        expect(error)
          .to.have.nested.property('cause.name')
          .that.matches(/^Mongo/);
        proxy.dropReplies.clear();
        expect((await namesIn(server, database)).filter((name) => name === 'Rex')).to.have.length(1);
      },
      { timeout: 1000 },
    ),
  );
});

const FAILURES: ReadonlyArray<readonly [what: string, data: object]> = [
  ['the connection is closed', { closeConnection: true }],
  ['the primary is stepping down', { errorCode: 189 }],
  ['the server is not the primary', { errorCode: 10_107 }],
  ['the server is shutting down', { errorCode: 91 }],
  ['the operation was interrupted', { errorCode: 11_600 }],
  ['the write met another', { errorCode: 112 }],
  ['the majority is late', { writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' } }],
];

describeOnMongo('A MongoDB store on a server that fails on demand', (server) => {
  /** Has the server fail `times` times, for this test's client alone. */
  const failing = (
    { times, ...data }: { times: number; failCommands: string[]; errorCode?: number },
    test: (store: MongoStore, database: string) => Promise<void>,
  ): (() => Promise<void>) =>
    inDatabase(server, (database) =>
      withDatabase(server, database, async (client) => {
        const appName = database;
        const store = await openMongoStore(
          uriOf(server, database).replace(/appName=[^&]*/, `appName=${appName}`),
        );
        const configure = (mode: unknown) =>
          client.db('admin').command({ configureFailPoint: 'failCommand', mode, data: { ...data, appName } });
        try {
          await store.pets.add({ ...rex, name: 'first' });
          await configure({ times });
          await test(store, database);
        } finally {
          await configure('off');
          await store.close();
        }
      }),
    );
  const promise = (title: string, test: () => Promise<void>): void => {
    if (server.failPoints) it(title, test);
    else it(`${title} (not run: the server takes no failpoints)`);
  };

  for (const [what, data] of FAILURES) {
    promise(
      `adds one animal when ${what}, three times in a row`,
      failing({ times: 3, failCommands: ['insert'], ...data }, async ({ pets }, database) => {
        const { pet } = await pets.add(rex);
        expect(await pets.findById(pet.id)).to.deep.equal(pet);
        expect((await namesIn(server, database)).sort()).to.deep.equal(['Rex', 'first']);
      }),
    );
  }

  for (const [what, code] of [
    ['has not the right to', 13],
    ['is overloaded', 462],
    ['does not know why', 8],
  ] as const) {
    promise(
      `says at once that it is not available when the server ${what}`,
      failing({ times: 50, failCommands: ['find'], errorCode: code }, async ({ pets }) => {
        const began = performance.now();
        const error = await rejection(pets.list({ limit: 5 }));
        expect(error).to.have.property('code', 'service_unavailable');
        expect(error).to.have.nested.property('cause.code', code);
        expect(performance.now() - began).to.be.below(4500);
      }),
    );
  }
});
