import { expect } from 'chai';
import {
  Binary,
  Decimal128,
  Double,
  Int32,
  Long,
  ObjectId,
  type CreateCollectionOptions,
  type Document,
} from 'mongodb';
import { MongoStoreError, openMongoStore } from '../../../src/adapters/mongodb/index.js';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import { until } from '../../until.js';
import { MongoProxy } from './mongo-proxy.js';
import { clientOf, describeOnMongo, dropDatabase, newDatabaseName, uriOf } from './mongo-server.js';
import {
  apiKey,
  claimOn,
  describeStore,
  rejection,
  rex,
  unavailable,
  type AnyDocument,
} from './mongo-store-tests.js';

const VALID = { name: 'Rex', categoryId: 7n, status: 'sold' } as const;

const FIRST_START = [
  'made the index keepUntil_1 on claims',
  'made the index removedUntil_1 on pets',
  'made the index status_1__id_1 on pets',
];

/** Documents that hold no animal, by what is wrong. Their ids are numbers, so that a list comes across them. */
const NO_ANIMAL: Readonly<Record<string, AnyDocument>> = {
  'a name of another type': { _id: 12n, name: new Binary(Buffer.from('Rex')) },
  'a category that is a fraction': { _id: 15n, categoryId: 1.5 },
  'an id that is a fraction': { _id: new Double(26.5) },
  'an id that is a decimal': { _id: Decimal128.fromString('27') },
};

/** Ways to open a store that create none. */
const READING = ['existing', 'read', 'snapshot'] as const;

describeOnMongo('The collections of a MongoDB store', (server) => {
  let database: string;
  beforeEach(() => {
    database = newDatabaseName();
  });
  afterEach(() => dropDatabase(server, database));

  /** Opens a store, and closes it when it has given the last of these notices. */
  async function prepared(lines: number): Promise<string[]> {
    const notices: string[] = [];
    const store = await openMongoStore(uriOf(server, database), {
      onNotice: (line) => void notices.push(line),
    });
    await store.check();
    await until('the database is prepared', async () => notices.length >= lines);
    await store.close();
    return notices;
  }

  /** Opens a store, which must refuse all calls for the reason, and uses it. */
  async function refused(reason: string, use: (store: CompleteStore) => Promise<void>) {
    const notices: string[] = [];
    const store = await openMongoStore(uriOf(server, database), {
      onNotice: (line) => void notices.push(line),
    });
    await until('it is refused', () => notices.some((line) => line.includes(reason)));
    for (const call of [() => store.check(), () => store.apiKeys.list()])
      expect(await unavailable(call())).to.include(reason);
    await use(store);
    await store.close();
  }

  it('are made with their indexes by the first start, with a notice; the next one changes nothing', async () => {
    expect((await prepared(3)).sort()).to.deep.equal(FIRST_START);
    const db = clientOf(server).db(database);
    const indexes = async (name: string) =>
      (await db.collection(name).indexes()).map(({ key, unique, expireAfterSeconds }) => [
        Object.keys(key).join(),
        unique ?? false,
        expireAfterSeconds,
      ]);
    // Only that of the _id is unique: a hashed shard key forbids others.
    const primary = ['_id', false, undefined];
    expect(await indexes('pets')).to.deep.equal([
      primary,
      ['status,_id', false, undefined],
      ['removedUntil', false, 3600],
    ]);
    expect(await indexes('claims')).to.deep.equal([primary, ['keepUntil', false, 3600]]);
    expect(await prepared(0)).to.deep.equal([]);
  });

  it('are made by five processes at once without an error', async () => {
    const told = await Promise.all(Array.from({ length: 5 }, () => prepared(0)));
    expect(told.flat().filter((line) => line.includes('not prepared'))).to.deep.equal([]);
  });

  it('need no index whose keys another one has, by any name', async () => {
    const db = clientOf(server).db(database);
    await db.collection('pets').createIndex({ status: 1, _id: 1 }, { name: 'ours' });
    await db.collection('pets').createIndex(
      { removedUntil: 1 },
      {
        name: 'swept',
        expireAfterSeconds: 60,
      },
    );
    expect(await prepared(1)).to.deep.equal(['made the index keepUntil_1 on claims']);
  });

  it('have every index that can be made, and the log says again and again which cannot', async () => {
    const db = clientOf(server).db(database);
    await db.collection('pets').createIndex({ name: 1 }, { name: 'status_1__id_1' });
    await db.collection('claims').createIndex({ keepUntil: 1 }, { name: 'without an end' });
    const [made, ...faults] = await prepared(3);
    expect(made).to.equal('made the index removedUntil_1 on pets');
    expect(faults).to.have.length(2);
    for (const fault of faults) {
      expect(fault).to.match(
        /^the database is not prepared yet, retrying: the index status_1__id_1 on pets: .*; the index keepUntil_1 on claims: ./,
      );
    }
  }).timeout(30_000);

  const UNFIT: Readonly<Record<string, readonly [name: string, options: CreateCollectionOptions]>> =
    {
      'is capped': ['pets', { capped: true, size: 100_000 }],
      'is a time series': ['pets', { timeseries: { timeField: 'at' } }],
      'is a view': ['claims', { viewOn: 'others', pipeline: [] }],
      'has a collation': ['claims', { collation: { locale: 'en', strength: 2 } }],
      'deletes old documents': [
        'apiKeys',
        { clusteredIndex: { key: { _id: 1 }, unique: true }, expireAfterSeconds: 60 },
      ],
    };
  for (const [what, [name, options]] of Object.entries(UNFIT)) {
    it(`are refused with its name when one ${what}`, async () => {
      await clientOf(server).db(database).createCollection(name, options);
      await refused(`the collection ${name} ${what}`, async () => {});
    });
  }

  it('are refused to the first calls, too, which store nothing', async () => {
    const db = clientOf(server).db(database);
    await db.createCollection('pets', { capped: true, size: 100_000 });
    await using store = await openMongoStore(uriOf(server, database));
    const calls = [store.check(), ...Array.from({ length: 10 }, () => store.pets.add(rex))];
    for (const call of calls)
      expect(await unavailable(call)).to.include('the collection pets is capped');
    expect(await db.collection('pets').countDocuments()).to.equal(0);
  });

  it('are used once the one that was refused is gone', async () => {
    const db = clientOf(server).db(database);
    await db.createCollection('counters', { capped: true, size: 100_000 });
    await refused('the collection counters is capped', async ({ pets }) => {
      await db.dropCollection('counters');
      await until('it is used', () => pets.add(rex).catch(() => undefined));
    });
  }).timeout(30_000);

  it('of version 0.1 are served: animals, claims and keys, also one that was replaced', async () => {
    const db = clientOf(server).db(database);
    const operation = new ObjectId();
    const insertOne = (name: string, document: object) => db.collection(name).insertOne(document);
    await insertOne('pets', { _id: 5n, ...VALID, operation });
    const claim = claimOn('t');
    const keepUntil = new Date(claim.keepUntil);
    await insertOne('claims', {
      _id: '["a key","t"]',
      fingerprint: 'rex',
      keepUntil,
      pet: { _id: 5n, ...VALID, operation },
    });
    const { id: _id, ...fields } = { ...apiKey, revokedAt: new Date(1) };
    const createdAt = new Date(apiKey.createdAt);
    await insertOne('apiKeys', { _id, ...fields, createdAt, replacedBy: 'k2', operation });
    await insertOne('counters', { _id: 'pets', last: 1000n });
    await db.createIndex('pets', { status: 1, _id: 1 });

    expect((await prepared(2)).sort()).to.deep.equal(FIRST_START.slice(0, 2));
    const store = await openMongoStore(uriOf(server, database));
    const { pets, apiKeys } = store;
    const old = { ...VALID, id: 5n };
    expect(await pets.list({ limit: 5 })).to.deep.equal([old]);
    expect(await pets.addOnce(VALID, claim, Date.now())).to.deep.equal({
      pet: old,
      replayed: true,
    });
    expect(await apiKeys.list()).to.deep.equal([{ ...apiKey, revokedAt: 1 }]);
    expect(await apiKeys.revoke('k', 0)).to.deep.equal({
      ...apiKey,
      revokedAt: 0,
    });
    expect((await pets.add(rex)).id > 1000n).to.equal(true);
    await store.close();
  });

  it('are not made by a store that must exist, or is only read: it is refused in one line, and keeps no connection', async () => {
    const proxy = await new MongoProxy(server).open();
    for (const mode of READING) {
      const error = await rejection(openMongoStore(uriOf(server, database, proxy), { mode }));
      expect(error).to.be.instanceOf(MongoStoreError);
      expect(error, 'ends a command with 2').to.have.property('isLasting', true);
      expect(String(error)).to.match(
        /\/animals-[^\n]+ holds no animal store: name the database of one\.$/,
      );
    }
    const closed = until('all connections are closed', async () => proxy.openConnections === 0);
    await closed.finally(() => void proxy.close());
    const db = clientOf(server).db(database);
    expect(await db.listCollections().toArray()).to.deep.equal([]);

    await db.createCollection('pets');
    const notices: string[] = [];
    const onNotice = (line: string): void => void notices.push(line);
    for (const mode of READING) {
      const store = await openMongoStore(uriOf(server, database), { mode, onNotice });
      expect(await store.apiKeys.list()).to.deep.equal([]);
      await store.close();
    }
    expect(notices).to.deep.equal([]);
    expect((await db.listCollections().toArray()).map(({ name }) => name)).to.deep.equal(['pets']);
    expect(await db.collection('pets').indexes()).to.have.length(1);
  });

  it('have their indexes again after the database was dropped under a store', async () => {
    const notices: string[] = [];
    const store = await openMongoStore(uriOf(server, database), {
      // The others are about tries that failed, for example while the database is still being dropped.
      onNotice: (line) => line.startsWith('made ') && notices.push(line),
    });
    await until('the database is prepared', async () => notices.length === FIRST_START.length);
    await store.pets.add(rex);
    await store.transfer.reserveIds(1n); // the ids in hand are given up
    await clientOf(server).db(database).dropDatabase();
    await until('the database is prepared again', async () => {
      await store.pets.add(rex); // from the next block
      return notices.length === 2 * FIRST_START.length;
    });
    expect(notices.slice(FIRST_START.length).sort()).to.deep.equal(FIRST_START);
    await store.close();
  });
});

describeStore('A MongoDB store, with documents of other programs:', ({ onStore }) => {
  onStore(
    'reads int32, double and int64 integers, and no other fields',
    async ({ store, collection }) => {
      const { pets, changes, transfer } = store;
      await collection('pets').insertMany([
        { ...VALID, _id: new Int32(1), categoryId: new Int32(-7), operation: new ObjectId() },
        { ...VALID, _id: new Double(2), categoryId: new Double(-0) },
        { ...VALID, _id: Long.fromNumber(3), categoryId: Long.MAX_VALUE },
        { ...VALID, _id: 4n, secret: 'x', owner: { password: 'x' }, id: 99, $odd: 1 },
        { ...VALID, _id: new Double(2 ** 40), categoryId: 2 ** 53 - 1 },
      ]);
      const expected = [
        { ...VALID, id: 1n, categoryId: -7n },
        { ...VALID, id: 2n, categoryId: 0n },
        { ...VALID, id: 3n, categoryId: 2n ** 63n - 1n },
        { ...VALID, id: 4n, categoryId: 7n },
        { ...VALID, id: 2n ** 40n, categoryId: 2n ** 53n - 1n },
      ];
      expect(await pets.list({ limit: 20 })).to.deep.equal(expected);
      expect(await pets.list({ after: 2n, limit: 2, status: 'sold' })).to.deep.equal(
        expected.slice(2, 4),
      );
      for (const pet of expected) expect(await pets.findById(pet.id)).to.deep.equal(pet);
      expect((await pets.add(rex)).id > 2n ** 40n).to.equal(true);
      await transfer.writeClaims([{ ...claimOn('t'), petId: 1n }]);
      expect(await transfer.readClaims({ limit: 5, now: Date.now() })).to.have.nested.property(
        '[0].petId',
        1n,
      );
      for (const { id } of expected) {
        expect(await changes.change(id, { status: 'pending' }, ['sold'])).to.include({
          status: 'pending',
        });
        expect(await changes.remove(id, ['pending'])).to.equal(true);
        expect(await pets.findById(id)).to.equal(undefined);
      }
    },
  );

  onStore(
    'lists no document with an unknown status or a text as its id',
    async ({ store, collection }) => {
      const { pets } = store;
      await collection('pets').insertMany([
        { ...VALID, _id: 1n, removedUntil: null },
        { ...VALID, _id: 2n, status: 'lost' },
        { ...VALID, _id: 'text' },
      ]);
      expect(await pets.list({ limit: 5 })).to.deep.equal([{ ...VALID, id: 1n }]);
      expect((await pets.add(rex)).id > 2n).to.equal(true);
      expect(await pets.findById(1n)).to.deep.equal({ ...VALID, id: 1n });
      expect(await unavailable(pets.findById(2n))).to.include(' 2n in pets ');
    },
  );

  onStore(
    'names an animal with the greatest id: no other can be added',
    async ({ store, collection }) => {
      await collection('pets').insertOne({ ...VALID, _id: Long.MAX_VALUE });
      const message = await unavailable(store.pets.add(rex));
      expect(message).to.equal(
        'the document 9223372036854775807n in pets is not valid: no greater id is left',
      );
    },
  );

  for (const [what, wrong] of Object.entries(NO_ANIMAL)) {
    const title = `fails to read an animal with ${what}, with an error that names it, and never assigns its id`;
    onStore(title, async ({ store: { pets }, collection }) => {
      await collection('pets').insertOne({ ...VALID, ...wrong });
      const message = await unavailable(pets.list({ limit: 5 }));
      expect(message)
        .to.match(/^the document \S.* in pets is not valid: /)
        .and.not.include('Rex');
      if (typeof wrong._id === 'bigint') {
        expect(message).to.include(` ${wrong._id}n `);
        await unavailable(pets.findById(wrong._id));
      }
      expect((await pets.add(rex)).id > 10n).to.equal(true);
      expect(await collection('pets').countDocuments()).to.equal(2);
    });
  }

  onStore(
    'names an API key whose times are not dates, without its hash',
    async ({ store, collection }) => {
      const { apiKeys } = store;
      const { id: _id, ...fields } = apiKey;
      for (const wrong of [{ revokedAt: '2026-01-01' }, { revokedAt: null }, { createdAt: null }]) {
        await collection('apiKeys').deleteMany({});
        await collection('apiKeys').insertOne({ _id, ...fields, createdAt: new Date(), ...wrong });
        for (const read of [() => apiKeys.findById('k'), () => apiKeys.list()]) {
          expect(await unavailable(read()))
            .to.include("'k' in apiKeys")
            .and.not.include(apiKey.hash);
        }
        await unavailable(apiKeys.revoke('k', Date.now()));
      }
    },
  );

  const faulty =
    'fails to honour a claim with a fault, with an error that names it, and adds nothing';
  onStore(faulty, async ({ store: { pets }, collection }) => {
    for (const change of [
      { $unset: { pet: '' } },
      { $unset: { 'pet.operation': '' } },
      { $set: { keepUntil: 'tomorrow' } },
      { $set: { 'pet._id': 'a text' } },
    ] as Document[]) {
      const claim = claimOn(JSON.stringify(change));
      const { pet } = await pets.addOnce(rex, claim, Date.now());
      await collection('claims').updateMany({}, change);
      const message = await unavailable(pets.addOnce(rex, claim, Date.now()));
      expect(message).to.match(/^the document \S.* in claims is not valid: /);
      expect(await pets.list({ after: pet.id, limit: 5 })).to.deep.equal([]);
    }
  });
});
