import { expect } from 'chai';
import type { Db } from 'mongodb';
import { rejectionOf } from '../../contract/rejection.js';
import { until } from '../../until.js';
import { unavailable } from '../unavailable.js';
import { MongoProxy } from './mongo-proxy.js';
import { describeOnMongo, inDatabase, uriOf, withClient } from './mongo-server.js';
import { addOnce, closeAll, open, rex } from './test-store.js';

/** What an operator reads of collections that hold no store: their names and options. */
const UNFIT: Record<string, readonly [string, object]> = {
  'pets has the options capped': ['pets', { capped: true, size: 4096 }],
  'pets has the options collation': ['pets', { collation: { locale: 'en' } }],
  'apiKeys has the options viewOn': ['apiKeys', { viewOn: 'others' }],
  'counters has the options timeseries': ['counters', { timeseries: { timeField: 't' } }],
};

describeOnMongo('A MongoDB store in a database', (server) => {
  afterEach(closeAll);

  /** A case with the database and its URL. */
  const withDatabase = (test: (url: string, database: Db) => Promise<void>) =>
    inDatabase(server, (name) =>
      withClient(server, (client) => test(uriOf(server, name), client.db(name))),
    );

  for (const [message, [name, options]] of Object.entries(UNFIT))
    it(
      `refuses in one line: ${message}`,
      withDatabase(async (url, database) => {
        await database.createCollection(name, options);
        const modes = ['create', 'existing', 'read'] as const;
        for (const mode of modes) {
          const error = (await rejectionOf(open(url, { mode }))) as Error;
          expect(error).to.include({ name: 'MongoStoreError', isPermanent: true });
          expect(error.message).to.include(message).and.not.include('\n');
        }
      }),
    );

  it('refuses writes but still reads if an unfit collection is noticed only at the first write', async () => {
    const proxy = await new MongoProxy(server).open();
    await withDatabase(async (_url, database) => {
      await database.createCollection('pets', { capped: true, size: 4096 });
      proxy.fateOf = (command) => ('listCollections' in command ? 'is lost' : 'passes');
      const { pets } = await open(proxy.uri(database.databaseName));
      proxy.fateOf = () => 'passes';
      expect(await unavailable(pets.add(rex))).to.include('has the options capped');
      expect(await pets.list({ limit: 5 })).to.deep.equal([]);
    })();
    proxy.close();
  });

  it(
    'uses an equal index of any name, and creates the missing ones',
    withDatabase(async (url, database) => {
      const pets = database.collection('pets');
      const options = { unique: true, sparse: true, name: 'mine' };
      await pets.createIndex({ 'claim.key': 1 }, options);
      const store = await open(url);
      const added = await addOnce(store, 'k');
      const again = await addOnce(store, 'k');
      expect(again).to.deep.equal({ ...added, replayed: true });
      const indexes = await pets.indexes();
      const keys = indexes.map(({ key }) => Object.keys(key).join());
      expect(keys).to.have.members(['_id', 'claim.key', 'status,_id', 'claim.keepUntil']);
    }),
  );

  it(
    'removes, when opened, claims that expired an hour ago and removed animals without a claim',
    withDatabase(async (url, database) => {
      const store = await open(url);
      const { pet: stays } = await addOnce(store, 'expired', Date.now() - 3_700_000);
      const { pet: goes } = await addOnce(store, 'goes', Date.now() - 3_700_000);
      await addOnce(store, 'expired by a fast clock', Date.now() - 3_500_000);
      const { pet: isKept } = await addOnce(store, 'live, removed');
      const { id } = await store.pets.add(rex);
      for (const gone of [goes.id, isKept.id, id]) await store.changes.remove(gone, undefined);
      await open(url);

      const [first, lately, removed] = await until('it has swept', async () => {
        const left = await database.collection('pets').find().toArray();
        return left.length === 3 && left;
      });
      expect(first).to.deep.equal({ _id: stays.id, ...rex });
      expect(lately).to.include.keys('name', 'claim');
      expect(removed).to.have.all.keys('_id', 'claim');
      const again = await addOnce(store, 'live, removed');
      expect(again).to.deep.equal({ pet: isKept, replayed: true });
    }),
  );

  it(
    'reports no status conflict to a change without `from` while its animal is created',
    withDatabase(async (url) => {
      const { pets, changes } = await open(url);
      for (let id = 1n; id <= 50n; id += 1n) {
        const change = () => changes.change(id, { name: 'Max' }, undefined);
        const [added] = await Promise.all([pets.add(rex), change(), change(), change()]);
        expect(added.id).to.equal(id);
      }
    }),
  );

  it(
    'counts ids in bigints from a number that a shell has set',
    withDatabase(async (url, database) => {
      const { pets, transfer } = await open(url);
      await pets.add(rex);
      await database.collection('counters').updateOne({}, { $set: { last: 5000 } });
      expect(await transfer.lastId()).to.equal(5000n);
      expect((await (await open(url)).pets.add(rex)).id).to.equal(5001n);
    }),
  );

  it(
    'says what is wrong with a stored document that is no animal',
    withDatabase(async (url, database) => {
      const { pets } = await open(url);
      const { id } = await pets.add(rex);
      await database.collection('pets').updateOne({}, { $set: { name: 5 } });
      const reads = [() => pets.findById(id), () => pets.list({ limit: 5 })];
      for (const read of reads)
        expect(await unavailable(read())).to.include('name must be a string');
    }),
  );

  it(
    'takes an operator in an argument for a value, which matches nothing',
    withDatabase(async (url) => {
      const store = await open(url);
      await store.pets.add(rex);
      const operator = { $ne: null } as never;
      const query = { limit: 5, status: operator };
      expect(await store.pets.findById(operator)).to.equal(undefined);
      expect(await store.changes.remove(operator, undefined)).to.equal(false);
      expect(await store.pets.list(query)).to.deep.equal([]);
      expect(await store.apiKeys.findById(operator)).to.equal(undefined);
    }),
  );
});
