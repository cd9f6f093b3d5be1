import { expect } from 'chai';
import { inspect } from 'node:util';
import {
  Binary,
  Decimal128,
  Double,
  Int32,
  Long,
  ObjectId,
  type CreateCollectionOptions,
  type CreateIndexesOptions,
  type Db,
  type Document,
} from 'mongodb';
import { MongoStoreError, openMongoStore } from '../../../src/adapters/mongodb/index.js';
import type { OpenMode } from '../../../src/application/ports/store.js';
import type { Pet } from '../../../src/domain/pet.js';
import { until } from '../../until.js';
import { MongoProxy } from './mongo-proxy.js';
import { clientOf, describeOnMongo, dropDatabase, newDatabaseName, uriOf } from './mongo-server.js';
import { times } from '../../contract/samples.js';
import {
  addOnce,
  type AnyDocument,
  apiKey,
  claimOn,
  describeStore,
  expectListed,
  openNoting,
  rejection,
  rex,
  unavailable,
} from './mongo-store-tests.js';

const VALID = {
  name: 'Rex',
  categoryId: 7n,
  status: 'sold',
} as const;

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

/** Documents that no list has, though they may be meant as animals. */
const UNLISTED: Readonly<Record<string, AnyDocument>> = {
  'without a status': { _id: 2, name: 'Rex', categoryId: 7 },
  'with an unknown status': { ...VALID, _id: 2n, status: 'Sold' },
  'with an id that the server made': { ...VALID, _id: new ObjectId() },
  'with an id below 1': { ...VALID, _id: 0n },
};

/** Ways to open a store that create none. */
const READING = ['existing', 'read', 'snapshot'] as const;

const CAPPED = { capped: true, size: 100_000 };

/** Collections that cannot be used, by what is said of them. */
const UNFIT: Readonly<Record<string, readonly [name: string, options: CreateCollectionOptions]>> = {
  'is capped': ['pets', CAPPED],
  'is a time series': ['pets', { timeseries: { timeField: 'at' } }],
  'is a view': ['claims', { viewOn: 'others', pipeline: [] }],
  'has a collation': ['claims', { collation: { locale: 'en', strength: 2 } }],
  'deletes old documents': [
    'apiKeys',
    { clusteredIndex: { key: { _id: 1 }, unique: true }, expireAfterSeconds: 60 },
  ],
};

/** Indexes of the same keys that queries of a store cannot use. */
const UNSUITABLE: Readonly<Record<string, CreateIndexesOptions>> = {
  'for some documents': { partialFilterExpression: { status: 'sold' } },
  'with a collation': { collation: { locale: 'de' } },
};

describeOnMongo('The collections of a MongoDB store', (server) => {
  let database: string;
  let db: Db;
  let url: string;
  beforeEach(() => {
    database = newDatabaseName();
    db = clientOf(server).db(database);
    url = uriOf(server, database);
  });
  afterEach(() => dropDatabase(server, database));

  /** Opens a store, and closes it when it has given so many notices. Resolves to them. */
  async function prepared(lines: number, mode: OpenMode = 'create'): Promise<string[]> {
    const { store, notices } = await openNoting(url, { mode, timeout: 20_000 });
    await store.check();
    await until('the database is prepared', async () => notices.length >= lines);
    await store.close();
    return notices;
  }

  /** The keys of each index, and what is special about it. */
  const indexesOf = async (name: string) => {
    const indexes = await db.collection(name).indexes();
    return indexes.map(({ key, unique, expireAfterSeconds: seconds }) => {
      const keys = Object.keys(key).join();
      const expiry = seconds === undefined ? '' : ` after ${seconds} s`;
      // Only that of the _id is unique: a hashed shard key forbids others.
      return unique ? `${keys}, unique` : keys + expiry;
    });
  };

  it('are made with their indexes by the first start, with a notice; the next one changes nothing', async () => {
    const first = await prepared(3);
    const next = await prepared(0);

    expect(first.sort()).to.deep.equal(FIRST_START);
    expect(next).to.deep.equal([]);
    expect(await indexesOf('pets')).to.deep.equal([
      '_id',
      'status,_id',
      'removedUntil after 3600 s',
    ]);
    expect(await indexesOf('claims')).to.deep.equal(['_id', 'keepUntil after 3600 s']);
  });

  it('are made by five processes at once without an error', async () => {
    const said = await Promise.all(times(5, () => prepared(0)));

    const faults = said.flat().filter((line) => line.includes('not prepared'));
    expect(faults).to.deep.equal([]);
  });

  it('need no index whose keys another one has, by any name', async () => {
    const pets = db.collection('pets');
    await pets.createIndex({ status: 1, _id: 1 }, { name: 'ours' });
    await pets.createIndex({ removedUntil: 1 }, { name: 'swept', expireAfterSeconds: 60 });

    const said = await prepared(1);

    expect(said).to.deep.equal(['made the index keepUntil_1 on claims']);
  });

  it('keep an index that somebody has hidden, and each start says that it is', async () => {
    const keys = { status: 1, _id: 1 } as const;
    await db.collection('pets').createIndex(keys, { name: 'status_1__id_1', hidden: true });

    const [said] = await prepared(3);
    const again = await prepared(1);

    expect(said).to.match(/^the index status_1__id_1 on pets is hidden: /);
    expect(again).to.deep.equal([said]);
  });

  for (const [what, options] of Object.entries(UNSUITABLE)) {
    it(`need their own index beside one ${what}`, async () => {
      await db.collection('pets').createIndex({ status: 1, _id: 1 }, { name: 'other', ...options });

      const [made] = await prepared(1);

      expect(made).to.equal('made the index status_1__id_1 on pets');
    });
  }

  it('have every index that can be made, and the log says again and again which cannot', async () => {
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

  for (const [what, [name, options]] of Object.entries(UNFIT)) {
    it(`are refused from the first call on when one ${what}, with its name`, async () => {
      await db.createCollection(name, options);
      await using store = await openMongoStore(url);

      const calls = [store.check(), store.pets.add(rex), store.apiKeys.list()];
      const causes = await Promise.all(calls.map(unavailable));

      for (const cause of causes) expect(cause).to.include(`the collection ${name} ${what}`);
      const counters = await db.listCollections({ name: 'counters' }).toArray();
      expect(counters, 'ids').to.deep.equal([]);
    });
  }

  for (const [what, document] of Object.entries(UNLISTED)) {
    it(`are said to have a document that lists pass over, however they are opened: one ${what}`, async () => {
      const pets = db.collection<AnyDocument>('pets');
      await pets.insertMany([
        { ...VALID, _id: 10n },
        { _id: 11n, removedUntil: new Date() },
      ]);
      const before = [...(await prepared(3)), ...(await prepared(0, 'read'))];
      await pets.insertOne(document);
      const said: string[] = [];
      for (const mode of ['create', ...READING] as const) said.push(...(await prepared(1, mode)));

      expect(before.join()).to.not.include('pass over');
      expect(said).to.have.length(4);
      for (const line of said) {
        expect(line).to.include(`pass over documents in pets, such as ${inspect(document._id)}:`);
      }
    });
  }

  it('name a unique index that somebody made, if it refuses an animal', async () => {
    await db.collection('pets').createIndex({ name: 1 }, { name: 'once', unique: true });
    await using store = await openMongoStore(url);
    await store.pets.add(rex);

    const cause = await unavailable(store.pets.add(rex));

    expect(cause).to.match(/duplicate key error.* index: once/);
  });

  it('are used as soon as the one that was refused is dropped, which the log has named', async () => {
    await db.createCollection('counters', CAPPED);
    const { store, notices } = await openNoting(url);
    await unavailable(store.check());
    await until('it is said', () => notices.length > 0);

    await db.dropCollection('counters');
    const pet = await store.pets.add(rex);
    await store.close();

    expect(pet).to.include(rex);
    expect(notices[0]).to.include('retrying: the collection counters is capped');
  });

  for (const mode of ['create', ...READING] as const) {
    it(`of version 0.3 are refused from the first call on, in one line, opened as ${mode}`, async () => {
      const pet = { _id: 5n, ...VALID, operation: new ObjectId() };
      await db.collection<AnyDocument>('pets').insertOne(pet);
      await db.collection<AnyDocument>('counters').insertOne({ _id: 'pets', last: 1000n });
      const { store, notices } = await openNoting(url, { mode });

      const calls = [store.check(), store.pets.add(rex), store.pets.findById(5n)];
      const causes = await Promise.all(calls.map(unavailable));
      if (mode === 'create') await until('it is said', () => notices.length > 0);
      await store.close();

      const [reason = ''] = causes;
      expect(reason).to.match(/^the database holds a store of another version: [^\n]+$/);
      const isReading = mode === 'read' || mode === 'snapshot';
      expect(causes).to.deep.equal([reason, isReading ? 'opened to read' : reason, reason]);
      expect(notices).to.deep.equal(
        mode === 'create' ? [`the database is not prepared yet, retrying: ${reason}`] : [],
      );
      expect(await db.collection<AnyDocument>('pets').find().toArray()).to.deep.equal([pet]);
      const counter = await db.collection<AnyDocument>('counters').findOne();
      expect(counter).to.deep.equal({ _id: 'pets', last: 1000n });
    });
  }

  it('are not made by a store that must exist, or is only read: it is refused in one line, and keeps no connection', async () => {
    const proxy = await new MongoProxy(server).open();

    for (const mode of READING) {
      const opening = openMongoStore(uriOf(server, database, proxy.host), { mode });
      const error = await rejection(opening);
      expect(error).to.be.instanceOf(MongoStoreError);
      expect(error, 'ends a command with 2').to.have.property('isLasting', true);
      expect(String(error)).to.match(
        /\/animals-[^\n]+ holds no animal store: name the database of one\.$/,
      );
    }
    await until('all connections are closed', async () => proxy.openConnections === 0);
    await proxy.close();

    const collections = await db.listCollections().toArray();
    expect(collections).to.deep.equal([]);
  });

  it('are left as they are by a store that must exist, or is only read', async () => {
    await db.createCollection('pets');

    for (const mode of READING) {
      const { store, notices } = await openNoting(url, { mode });
      const keys = await store.apiKeys.list();
      await store.close();
      expect(keys, mode).to.deep.equal([]);
      expect(notices, mode).to.deep.equal([]);
    }

    const collections = await db.listCollections().toArray();
    expect(collections.map(({ name }) => name)).to.deep.equal(['pets']);
    expect(await indexesOf('pets')).to.deep.equal(['_id']);
  });

  it('have their indexes again after the database was dropped under a store', async () => {
    // With a counter, the first id prepares nothing in the background, which the drop would disturb.
    await db.collection<AnyDocument>('counters').insertOne({ _id: 'pets', last: 1n, schema: 4 });
    const { store, notices } = await openNoting(url);
    // The others are about tries that failed, for example while the database is still being dropped.
    const made = () => notices.filter((line) => line.startsWith('made '));
    await until('the database is prepared', async () => made().length === FIRST_START.length);
    await store.pets.add(rex);
    await store.transfer.reserveIds(1n); // the ids in hand are given up

    await db.dropDatabase();
    await until('the database is prepared again', async () => {
      await store.pets.add(rex); // from the next block
      return made().length === 2 * FIRST_START.length;
    });
    await store.close();

    const again = made().slice(FIRST_START.length);
    expect(again.sort()).to.deep.equal(FIRST_START);
  });
});

/** Integers as other programs write them. */
const INTEGERS: readonly AnyDocument[] = [
  { ...VALID, _id: new Int32(1), categoryId: new Int32(-7), operation: new ObjectId() },
  { ...VALID, _id: new Double(2), categoryId: new Double(-0) },
  { ...VALID, _id: Long.fromNumber(3), categoryId: Long.MAX_VALUE },
  { ...VALID, _id: new Double(2 ** 40), categoryId: 2 ** 53 - 1 },
];

/** How these are read. */
const READ: readonly Pet[] = [
  { ...VALID, id: 1n, categoryId: -7n },
  { ...VALID, id: 2n, categoryId: 0n },
  { ...VALID, id: 3n, categoryId: 2n ** 63n - 1n },
  { ...VALID, id: 2n ** 40n, categoryId: 2n ** 53n - 1n },
];

describeStore('A MongoDB store, with documents of other programs:', ({ onStore }) => {
  onStore(
    'reads, changes and removes animals whose integers are int32, double or int64, and assigns greater ids',
    async ({ store, collection }) => {
      const { pets, changes, transfer } = store;
      await collection('pets').insertMany([...INTEGERS]);
      await transfer.writeClaims([{ ...claimOn('t'), petId: 1n }]);

      const all = await pets.list({ limit: 20 });
      const page = await pets.list({
        after: 2n,
        limit: 2,
        status: 'sold',
      });
      const added = await pets.add(rex);
      const [claim] = await transfer.readClaims({
        limit: 5,
        now: Date.now(),
      });

      expect(all).to.deep.equal(READ);
      expect(page).to.deep.equal(READ.slice(2));
      expect(added.id).to.be.above(2n ** 40n);
      expect(claim).to.have.property('petId', 1n);
      for (const pet of READ) {
        const found = await pets.findById(pet.id);
        const changed = await changes.change(pet.id, { status: 'pending' }, ['sold']);
        const removed = await changes.remove(pet.id, ['pending']);
        expect({
          found,
          changed,
          removed,
        }).to.deep.equal({
          found: pet,
          changed: { ...pet, status: 'pending' },
          removed: true,
        });
      }
    },
  );

  onStore(
    'reads only the fields of an animal, and lists no document with an unknown status or a text as its id',
    async ({ store: { pets }, collection }) => {
      const others = { secret: 'x', owner: { password: 'x' }, id: 99, $odd: 1, removedUntil: null };
      await collection('pets').insertMany([
        { ...VALID, ...others, _id: 1n },
        { ...VALID, _id: 2n, status: 'lost' },
        { ...VALID, _id: 'text' },
      ]);

      const listed = await pets.list({ limit: 5 });
      const found = await pets.findById(1n);
      const reason = await unavailable(pets.findById(2n));
      const added = await pets.add(rex);

      const pet = { ...VALID, id: 1n };
      expect(listed).to.deep.equal([pet]);
      expect(found).to.deep.equal(pet);
      expect(reason).to.include(' 2n in pets ');
      expect(added.id).to.be.above(2n);
    },
  );

  onStore(
    'names an animal with the greatest id: no other can be added',
    async ({ store, collection }) => {
      await collection('pets').insertOne({ ...VALID, _id: Long.MAX_VALUE });

      const reason = await unavailable(store.pets.add(rex));

      expect(reason).to.equal(
        'the document 9223372036854775807n in pets is not valid: no greater id is left',
      );
    },
  );

  for (const [what, wrong] of Object.entries(NO_ANIMAL)) {
    onStore(
      `fails to read an animal with ${what}, with an error that names it, and never assigns its id`,
      async ({ store: { pets }, collection }) => {
        await collection('pets').insertOne({ ...VALID, ...wrong });

        const reasons = [await unavailable(pets.list({ limit: 5 }))];
        const isFindable = typeof wrong._id === 'bigint';
        if (isFindable) reasons.push(await unavailable(pets.findById(wrong._id)));
        const added = await pets.add(rex);

        for (const reason of reasons) {
          expect(reason).to.match(/^the document \S.* in pets is not valid: /);
          expect(reason).to.not.include('Rex');
          if (isFindable) expect(reason).to.include(` ${wrong._id}n `);
        }
        expect(added.id).to.be.above(10n);
        const stored = await collection('pets').countDocuments();
        expect(stored, 'documents').to.equal(2);
      },
    );
  }

  for (const wrong of [{ revokedAt: '2026-01-01' }, { revokedAt: null }, { createdAt: null }]) {
    onStore(
      `names an API key whose times are no dates, without its hash: ${JSON.stringify(wrong)}`,
      async ({ store: { apiKeys }, collection }) => {
        const { id: _id, ...fields } = apiKey;
        const createdAt = new Date();
        await collection('apiKeys').insertOne({
          _id,
          ...fields,
          createdAt,
          ...wrong,
        });

        const reasons = [
          await unavailable(apiKeys.findById('k')),
          await unavailable(apiKeys.list()),
          await unavailable(apiKeys.revoke('k', Date.now())),
        ];

        for (const reason of reasons) {
          expect(reason).to.include("'k' in apiKeys");
          expect(reason).to.not.include(apiKey.hash);
        }
      },
    );
  }

  const FAULTS: readonly Document[] = [
    { $unset: { pet: '' } },
    { $unset: { 'pet.operation': '' } },
    { $set: { keepUntil: 'tomorrow' } },
    { $set: { 'pet._id': 'a text' } },
  ];
  const faulty = 'names a claim with a fault, and adds nothing';
  for (const fault of FAULTS) {
    onStore(`${faulty}: ${JSON.stringify(fault)}`, async ({ store, collection }) => {
      const { pet } = await addOnce(store);
      await collection('claims').updateMany({}, fault);

      const reason = await unavailable(addOnce(store));

      expect(reason).to.match(/^the document \S.* in claims is not valid: /);
      await expectListed(store.pets, [pet]);
    });
  }
});
