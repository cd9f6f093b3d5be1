import { expect } from 'chai';
import type { Document } from 'mongodb';
import { describeOnMongo } from './mongo-server.js';
import { claimOn, rex, throughProxy } from './mongo-store-tests.js';

const DATA_COMMANDS = new Set([
  'insert',
  'update',
  'delete',
  'findAndModify',
  'find',
  'aggregate',
  'getMore',
]);
const KEY = {
  id: 'k',
  name: 'a key',
  hash: '0'.repeat(64),
  scopes: [],
  createdAt: new Date(0),
} as const;

const nameOf = (command: Document): string => Object.keys(command)[0] ?? '';
const written = ['insert', 'update', 'findAndModify'];

/** The commands on documents of our own collections, without those of the preparation. */
const onDocuments = (commands: readonly Document[]): Document[] =>
  commands.filter((command) => DATA_COMMANDS.has(nameOf(command)));

describeOnMongo('What a MongoDB store sends', (server) => {
  it(
    'writes with the journals of a majority, one document at a time, each known to the server if it comes twice',
    throughProxy(server, async ({ pets, apiKeys }, proxy) => {
      await pets.add(rex);
      await pets.add(rex, { claim: claimOn('t') });
      await pets.add(rex, { claim: claimOn('t') });
      await apiKeys.add(KEY);
      await apiKeys.update('k', (key) => ({ ...key, name: 'another' }));
      const writes = onDocuments(proxy.commands).filter((command) => written.includes(nameOf(command)));
      expect(new Set(writes.map(nameOf))).to.deep.equal(new Set(written));
      for (const write of writes) {
        expect(write['writeConcern'], nameOf(write)).to.include({ w: 'majority', j: true });
        expect(Number(write['writeConcern'].wtimeout)).to.equal(2000);
        expect(Number(write['maxTimeMS'])).to.equal(2000);
        if (!server.name.includes('standalone')) expect(write).to.include.keys('lsid', 'txnNumber');
        expect(write).to.not.have.any.keys('startTransaction', 'autocommit');
      }
    }),
  );

  it(
    'reads what a majority has, from the primary, for a bounded time, and only the fields of an animal',
    throughProxy(server, async ({ pets, apiKeys }, proxy) => {
      const { pet } = await pets.add(rex);
      proxy.commands.length = 0;
      await pets.findById(pet.id);
      await pets.list({ limit: 21 });
      await pets.list({ after: 5n, limit: 21, status: 'sold' });
      await pets.check();
      await apiKeys.findById('k');
      await apiKeys.list();
      const reads = onDocuments(proxy.commands);
      expect(reads.map(nameOf)).to.deep.equal(Array(6).fill('find'));
      for (const read of reads) {
        expect(read['readConcern']).to.deep.include({ level: 'majority' });
        expect(Number(read['maxTimeMS'])).to.equal(2000);
        expect(read['$readPreference']?.mode ?? 'primary').to.match(/^primary(?:Preferred)?$/);
      }
      for (const read of reads.slice(0, 3)) {
        expect(Object.keys(read['projection'])).to.deep.equal(['_id', 'name', 'categoryId', 'status']);
      }
    }),
  );

  it(
    'lists by ranges of the _id, in its order, which an index or any shard key of the _id serves',
    throughProxy(server, async ({ pets }, proxy) => {
      await pets.check();
      proxy.commands.length = 0;
      await pets.list({ limit: 21 });
      await pets.list({ after: 2n ** 53n + 1n, limit: 3, status: 'sold' });
      const [all, sold] = onDocuments(proxy.commands).map(({ filter, sort, limit }) => ({
        filter: JSON.parse(
          JSON.stringify(filter, (_, value) => (value?._bsontype === 'Long' ? String(value) : value)),
        ),
        sort: Object.entries(sort).map(([field, order]) => [field, Number(order)]),
        limit: Number(limit),
      }));
      expect(all).to.deep.equal({ filter: { _id: { $gt: '0' } }, sort: [['_id', 1]], limit: 21 });
      expect(sold).to.deep.equal({
        filter: { _id: { $gt: '9007199254740993' }, status: { $eq: 'sold' } },
        sort: [['_id', 1]],
        limit: 3,
      });
    }),
  );

  it(
    'takes whatever it is given as a value, never as an operator',
    throughProxy(server, async ({ pets, apiKeys }, proxy) => {
      const { pet } = await pets.add(rex);
      await apiKeys.add(KEY);
      const operator: never = { $ne: null } as never;
      expect(await pets.list({ limit: 5, status: operator })).to.deep.equal([]);
      expect(await pets.findById(operator)).to.equal(undefined);
      expect(await apiKeys.findById(operator)).to.equal(undefined);
      expect(await apiKeys.update(operator, (key) => key)).to.equal(undefined);
      await pets.add(rex, { claim: claimOn('{"$ne":null}', { scope: '$where' }) });
      expect((await pets.add(rex, { claim: claimOn('other') })).replayed).to.equal(false);
      expect(await pets.findById(pet.id)).to.deep.equal(pet);
      expect(proxy.count('delete')).to.equal(0);
    }),
  );

  it(
    'asks for ids once for many animals, and sends one insert for each',
    throughProxy(server, async ({ pets }, proxy) => {
      for (let count = 0; count < 101; count += 1) await pets.add(rex);
      expect(proxy.count('findAndModify')).to.equal(1);
      expect(proxy.count('insert')).to.equal(101);
    }),
  );
});
