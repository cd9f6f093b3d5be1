import { expect } from 'chai';
import { Binary, Decimal128, Double, Int32, Long, ObjectId, type Document } from 'mongodb';
import { MongoStoreError, openMongoStore } from '../../../src/adapters/mongodb/index.js';
import { until } from './mongod.js';
import { clientOf, describeOnMongo, dropDatabase, newDatabaseName, uriOf } from './mongo-server.js';
import {
  apiKey,
  claimOn,
  onStore,
  rejection,
  rex,
  type AnyDocument,
  type Bench,
} from './mongo-store-tests.js';

const VALID = { name: 'Rex', categoryId: 7n, status: 'sold' } as const;

const FIRST_START = [
  'made the index keepUntil_1 on claims',
  'made the index removedUntil_1 on pets',
  'made the index status_1__id_1 on pets',
];

/** Documents that hold no animal, by what is wrong. Their ids are numbers, so that a list comes across them. */
const NO_ANIMAL: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'a name of another type': { _id: 12n, name: new Binary(Buffer.from('Rex')) },
  'a category that is a fraction': { _id: 15n, categoryId: 1.5 },
  'an id that is a fraction': { _id: new Double(26.5) },
  'an id that is a decimal': { _id: Decimal128.fromString('27') },
};

async function insert(
  { collection }: Bench,
  name: string,
  ...documents: ReadonlyArray<Readonly<Record<string, unknown>>>
): Promise<void> {
  await collection(name).insertMany(documents as unknown as AnyDocument[], { ignoreUndefined: true });
}

/** What a call rejects with because of a document that is not valid. */
async function unreadable(call: Promise<unknown>): Promise<string> {
  const error = await rejection(call);
  expect(error).to.have.property('code', 'service_unavailable');
  expect(error).to.have.nested.property('cause.message').that.is.a('string');
  return (error as Error & { cause: Error }).cause.message;
}

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
    await store.pets.check();
    await until('the database is prepared', async () => notices.length >= lines);
    await store.close();
    return notices;
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

  it('of version 0.1 are served: animals, claims and keys, also one that was replaced', async () => {
    const db = clientOf(server).db(database);
    const operation = new ObjectId();
    const insertOne = (name: string, document: object) => db.collection(name).insertOne(document);
    await insertOne('pets', { _id: 5n, ...VALID, operation });
    const claim = claimOn('t');
    const { keepUntil } = claim;
    await insertOne('claims', {
      _id: '["a key","t"]',
      fingerprint: 'rex',
      keepUntil,
      pet: { _id: 5n, ...VALID, operation },
    });
    const { id: _id, ...fields } = { ...apiKey, revokedAt: new Date(1) };
    await insertOne('apiKeys', { _id, ...fields, replacedBy: 'k2', operation });
    await insertOne('counters', { _id: 'pets', last: 1000n });

    await prepared(3);
    const store = await openMongoStore(uriOf(server, database));
    const { pets, apiKeys } = store;
    const old = { ...VALID, id: 5n };
    expect(await pets.list({ limit: 5 })).to.deep.equal([old]);
    expect(await pets.add(VALID, { claim })).to.deep.equal({ pet: old, replayed: true });
    expect(await apiKeys.list()).to.deep.equal([{ ...apiKey, revokedAt: new Date(1) }]);
    expect(await apiKeys.revoke('k', new Date(0))).to.deep.equal({ ...apiKey, revokedAt: new Date(0) });
    expect((await pets.add(rex)).pet.id > 1000n).to.equal(true);
    await store.close();
  });

  it('are not made by a store that must exist, or is only read: it is refused in one line', async () => {
    for (const options of [{ mustExist: true }, { readOnly: true }]) {
      const error = await rejection(openMongoStore(uriOf(server, database), options));
      expect(error).to.be.instanceOf(MongoStoreError);
      expect(String(error)).to.match(/\/animals-[^\n]+ holds no animal store: name the database of one\.$/);
    }
    const db = clientOf(server).db(database);
    expect(await db.listCollections().toArray()).to.deep.equal([]);

    await db.createCollection('pets');
    const notices: string[] = [];
    const onNotice = (line: string): void => void notices.push(line);
    for (const options of [{ mustExist: true }, { readOnly: true }]) {
      const store = await openMongoStore(uriOf(server, database), { ...options, onNotice });
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
    await Promise.all(Array.from({ length: 1000 }, () => store.pets.add(rex))); // a block of ids
    await clientOf(server).db(database).dropDatabase();
    await until('the database is prepared again', async () => {
      await store.pets.add(rex); // from the next block at last
      return notices.length === 2 * FIRST_START.length;
    });
    expect(notices.slice(FIRST_START.length).sort()).to.deep.equal(FIRST_START);
    await store.close();
  });
});

describeOnMongo('A MongoDB store, with documents of other programs:', (server) => {
  it(
    'reads animals whose integers are int32, double or int64, in one order, and nothing else that is in them',
    onStore(server, async (bench) => {
      const { pets } = bench.store;
      await insert(
        bench,
        'pets',
        { ...VALID, _id: new Int32(1), categoryId: new Int32(-7) },
        { ...VALID, _id: new Double(2), categoryId: new Double(-0) },
        { ...VALID, _id: Long.fromNumber(3), categoryId: Long.MAX_VALUE },
        { ...VALID, _id: 4n, secret: 'x', owner: { password: 'x' }, id: 99, $odd: 1 },
        { ...VALID, _id: new Double(2 ** 40), categoryId: 2 ** 53 - 1 },
      );
      const expected = [
        { ...VALID, id: 1n, categoryId: -7n },
        { ...VALID, id: 2n, categoryId: 0n },
        { ...VALID, id: 3n, categoryId: 2n ** 63n - 1n },
        { ...VALID, id: 4n, categoryId: 7n },
        { ...VALID, id: 2n ** 40n, categoryId: 2n ** 53n - 1n },
      ];
      expect(await pets.list({ limit: 20 })).to.deep.equal(expected);
      expect(await pets.list({ after: 2n, limit: 2, status: 'sold' })).to.deep.equal(expected.slice(2, 4));
      for (const pet of expected) expect(await pets.findById(pet.id)).to.deep.equal(pet);
      expect((await pets.add(rex)).pet.id > 2n ** 40n).to.equal(true);
      for (const { id } of expected) {
        expect(await bench.store.changes.changeStatus(id, 'pending', ['sold'])).to.include({
          status: 'pending',
        });
        expect(await bench.store.changes.remove(id, ['pending'])).to.equal(true);
        expect(await pets.findById(id)).to.equal(undefined);
      }
    }),
  );

  it(
    'reads an animal whose `removedUntil` is null, and lists it, but no document with a status that is none, nor one with a text for its id',
    onStore(server, async (bench) => {
      const { pets } = bench.store;
      const [nulled, lost] = [
        { ...VALID, _id: 1n, removedUntil: null },
        { ...VALID, _id: 2n, status: 'lost' },
      ];
      await insert(bench, 'pets', nulled, lost, { ...VALID, _id: 'text' });
      expect(await pets.list({ limit: 5 })).to.deep.equal([{ ...VALID, id: 1n }]);
      expect(await pets.findById(1n)).to.deep.equal({ ...VALID, id: 1n });
      expect(await unreadable(pets.findById(2n))).to.include(' 2n in pets ');
    }),
  );

  it(
    'names an animal that has taken the greatest id, as no other can be added',
    onStore(server, async (bench) => {
      await insert(bench, 'pets', { ...VALID, _id: Long.MAX_VALUE });
      const message = await unreadable(bench.store.pets.add(rex));
      expect(message).to.equal(
        'the document 9223372036854775807n in pets is not valid: no greater id is left',
      );
    }),
  );

  for (const [what, wrong] of Object.entries(NO_ANIMAL)) {
    it(
      `fails to read an animal with ${what}, with an error that names it, and never assigns its id`,
      onStore(server, async (bench) => {
        const { pets } = bench.store;
        await insert(bench, 'pets', { ...VALID, ...wrong });
        const message = await unreadable(pets.list({ limit: 5 }));
        expect(message)
          .to.match(/^the document \S.* in pets is not valid: /)
          .and.not.include('Rex');
        if (typeof wrong['_id'] === 'bigint') {
          expect(message).to.include(` ${wrong['_id']}n `);
          await unreadable(pets.findById(wrong['_id']));
        }
        expect((await pets.add(rex)).pet.id > 10n).to.equal(true);
        expect(await bench.collection('pets').countDocuments()).to.equal(2);
      }),
    );
  }

  it(
    'fails to read an API key whose times are not dates, with an error that names it without its hash',
    onStore(server, async (bench) => {
      const { apiKeys } = bench.store;
      const { id: _id, ...fields } = apiKey;
      for (const wrong of [{ revokedAt: '2026-01-01' }, { revokedAt: null }, { createdAt: undefined }]) {
        await bench.collection('apiKeys').deleteMany({});
        await insert(bench, 'apiKeys', { _id, ...fields, ...wrong });
        for (const read of [() => apiKeys.findById('k'), () => apiKeys.list()]) {
          expect(await unreadable(read()))
            .to.include("'k' in apiKeys")
            .and.not.include(apiKey.hash);
        }
        const revoking = rejection(apiKeys.revoke('k', new Date()));
        expect(await revoking).to.have.property('code', 'service_unavailable');
      }
    }),
  );

  it(
    'fails to honour a claim with a fault, with an error that names it, and adds nothing',
    onStore(server, async ({ store: { pets }, collection }) => {
      for (const change of [
        { $unset: { pet: '' } },
        { $unset: { 'pet.operation': '' } },
        { $set: { keepUntil: 'tomorrow' } },
        { $set: { 'pet._id': 'a text' } },
      ] as Document[]) {
        const claim = claimOn(JSON.stringify(change));
        const { pet } = await pets.add(rex, { claim });
        await collection('claims').updateMany({}, change);
        const message = await unreadable(pets.add(rex, { claim }));
        expect(message).to.match(/^the document \S.* in claims is not valid: /);
        expect(await pets.list({ after: pet.id, limit: 5 })).to.deep.equal([]);
      }
    }),
  );

  it(
    'keeps what tells of an animal until the last of its claims has lapsed, in whatever order they are copied',
    onStore(server, async ({ store: { transfer, pets }, collection }) => {
      const { pet } = await pets.add(rex);
      const [removed, later, sooner] = [pet.id + 1n, new Date('2099-01-02'), new Date('2099-01-01')];
      for (const petId of [pet.id, removed]) {
        for (const keepUntil of [later, sooner])
          await transfer.writeClaims([
            { ...claimOn(`${petId} ${keepUntil.getTime()}`, { keepUntil }), petId },
          ]);
      }
      const [kept, gone] = await collection('pets').find().sort({ _id: 1 }).toArray();
      expect([kept?.['claimedUntil'], gone?.['removedUntil']]).to.deep.equal([later, later]);
    }),
  );
});
