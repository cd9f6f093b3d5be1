import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Decimal128, Double, Int32, Long, ObjectId, type Collection } from 'mongodb';
import {
  MissingMongoStoreError,
  openMongoStore,
  type MongoStore,
} from '../../../src/adapters/mongodb/open-mongo-store.js';
import { savedPet } from '../../../src/domain/pet.js';
import { times } from '../../contract/samples.js';
import { MongoProxy } from './mongo-proxy.js';
import { describeOnMongo, uriOf, withDatabase } from './mongo-server.js';
import { claimOn, inDatabase, openMadeStore, rejection, rex, throughProxy } from './mongo-store-tests.js';

interface AnyDocument {
  readonly _id: bigint | number | string | Double | Decimal128 | Int32 | Long;
  readonly [field: string]: unknown;
}

const VALID = { name: 'Rex', categoryId: 7n, status: 'sold' } as const;

const pets = (count: number) => times(count, (number) => savedPet(BigInt(number), rex));

const KEY = {
  id: 'k',
  name: 'a key',
  hash: 'f'.repeat(64),
  scopes: ['pets:read'] as const,
  createdAt: new Date(0),
};

/** Documents in which no animal is, each with what stands for its id in a message. */
const UNREADABLE: Readonly<Record<string, readonly [document: AnyDocument, named: string]>> = {
  'without fields': [{ _id: 11n }, '11n'],
  'with a blank name': [{ ...VALID, _id: 12n, name: ' ' }, '12n'],
  'with a category that is no integer': [{ ...VALID, _id: 13n, categoryId: 1.5 }, '13n'],
  'with an unknown status': [{ ...VALID, _id: 14n, status: 'lost' }, '14n'],
  'with an id that is no integer': [{ ...VALID, _id: new Double(26.5) }, '26.5'],
  'with an id that is a decimal': [{ ...VALID, _id: Decimal128.fromString('27') }, `new Decimal128('27')`],
  'with an id below 1': [{ ...VALID, _id: -5n }, '-5n'],
  'with an id that is text': [{ ...VALID, _id: 'text' }, `'text'`],
  'with an id that is no number': [{ ...VALID, _id: NaN }, 'NaN'],
};

describeOnMongo('A MongoDB catalogue that is moved', (server) => {
  const onCollections = (
    test: (store: MongoStore, collection: (name: string) => Collection<AnyDocument>) => Promise<void>,
  ): (() => Promise<void>) =>
    inDatabase(server, (database) =>
      withDatabase(server, database, async (client) => {
        const store = await openMadeStore(uriOf(server, database));
        try {
          await test(store, (name) => client.db().collection<AnyDocument>(name));
        } finally {
          await store.close();
        }
      }),
    );

  it(
    'reads animals whose integers another program wrote as int32, double or Long',
    onCollections(async ({ transfer }, collection) => {
      await collection('pets').insertMany(
        [
          { ...VALID, _id: new Int32(1), categoryId: new Int32(-7) },
          { ...VALID, _id: new Double(2), categoryId: new Double(5) },
          { ...VALID, _id: Long.fromNumber(3), categoryId: Long.MAX_VALUE, secret: 'x' },
        ],
        { bypassDocumentValidation: true },
      );
      expect(await transfer.readPets({ limit: 10 })).to.deep.equal([
        { ...VALID, id: 1n, categoryId: -7n },
        { ...VALID, id: 2n, categoryId: 5n },
        { ...VALID, id: 3n, categoryId: 2n ** 63n - 1n },
      ]);
    }),
  );

  for (const [what, [document, named]] of Object.entries(UNREADABLE)) {
    it(
      `never leaves out a document ${what}: it rejects, and names it`,
      onCollections(async ({ transfer }, collection) => {
        await transfer.writePets(pets(2));
        await collection('pets').insertOne(document, { bypassDocumentValidation: true });
        expect((await transfer.survey()).empty).to.equal(false);
        const error = await rejection(transfer.readPets({ limit: 10 }));
        expect(error).to.have.property('code', 'service_unavailable');
        expect(error)
          .to.have.nested.property('cause.message')
          .that.includes(`the documents ${named} in pets cannot be copied`);
      }),
    );
  }

  it(
    'names ten of the documents that it cannot read, and says how many more there are in the batch',
    onCollections(async ({ transfer }, collection) => {
      await collection('pets').insertMany(
        times(14, (number) => ({ _id: BigInt(number) })),
        { bypassDocumentValidation: true },
      );
      expect(await rejection(transfer.readPets({ limit: 12 })))
        .to.have.nested.property('cause.message')
        .that.matches(/^the documents 1n, 2n, .*, 10n and 2 more in pets /);
    }),
  );

  it(
    'calls a store not empty that holds only what it cannot read',
    onCollections(async ({ transfer }, collection) => {
      await transfer.survey();
      await collection('pets').insertOne({ _id: 'text' }, { bypassDocumentValidation: true });
      expect((await transfer.survey()).empty).to.equal(false);
    }),
  );

  it(
    'never leaves out a key that it cannot read, and does not tell its hash',
    onCollections(async ({ transfer }, collection) => {
      await transfer.writeApiKeys([KEY]);
      await collection('apiKeys').updateOne(
        { _id: 'k' },
        { $set: { revokedAt: '2026-01-01' } },
        { bypassDocumentValidation: true },
      );
      const error = await rejection(transfer.readApiKeys());
      expect(error).to.have.nested.property('cause.message').that.includes(`'k' in apiKeys`);
      expect(inspect(error, { depth: null })).to.not.include(KEY.hash);
    }),
  );

  for (const [what, change] of Object.entries({
    'whose time is text': { $set: { keepUntil: 'tomorrow' } },
    'without a fingerprint': { $unset: { fingerprint: '' } },
    'without its animal': { $unset: { pet: '' } },
  })) {
    it(
      `never leaves out a claim ${what}`,
      onCollections(async (store, collection) => {
        await store.pets.add(rex, { claim: claimOn('t') });
        await collection('claims').updateOne({}, change as never);
        const error = await rejection(store.transfer.readClaims({ limit: 10, now: new Date() }));
        expect(error).to.have.nested.property('cause.message').that.includes('claims');
      }),
    );
  }

  it(
    'does not read a claim whose animal was not kept, nor one whose id another animal has, and fills the batch',
    onCollections(async (store, collection) => {
      const ids: bigint[] = [];
      for (const token of ['a', 'b', 'c', 'd', 'e'])
        ids.push((await store.pets.add(rex, { claim: claimOn(token) })).pet.id);
      // As if their makers had ended between the two writes.
      await collection('pets').deleteMany({ _id: { $in: ids.slice(0, 2) } });
      await store.transfer.writePets([savedPet(ids[1] ?? 0n, { ...rex, name: 'Another' })]);
      const now = new Date();
      const first = await store.transfer.readClaims({ limit: 2, now });
      expect(first.map(({ token }) => token)).to.deep.equal(['c', 'd']);
      const rest = await store.transfer.readClaims({ after: first.at(-1), limit: 2, now });
      expect(rest.map(({ token, petId }) => [token, petId])).to.deep.equal([['e', ids[4]]]);
    }),
  );

  it(
    'says so when a claim is written whose animal is not there',
    onCollections(async ({ transfer }) => {
      const claim = { scope: 's', token: 't', fingerprint: 'f', petId: 9n, keepUntil: new Date(9) };
      expect(await rejection(transfer.writeClaims([claim])))
        .to.have.nested.property('cause.message')
        .that.includes('animal 9');
    }),
  );

  it(
    'says so when the counter of ids is no integer: how far the ids went cannot be told',
    onCollections(async ({ transfer }, collection) => {
      await collection('counters').insertOne({ _id: 'pets', last: 'many' });
      expect(await rejection(transfer.survey()))
        .to.have.nested.property('cause.message')
        .that.includes('the counter of ids');
    }),
  );

  it(
    'tells how far the ids went also when the counter was lost',
    onCollections(async ({ transfer }, collection) => {
      await transfer.writePets([savedPet(77n, rex)]);
      expect(await collection('counters').countDocuments()).to.equal(0);
      expect((await transfer.survey()).lastId).to.equal(77n);
    }),
  );

  it(
    'leaves the ids in hand to a process that runs, and has it go on above those that are reserved',
    onCollections(async (store, collection) => {
      const { pet: first } = await store.pets.add(rex);
      await store.transfer.reserveIds(5000n);
      const { pet: second } = await store.pets.add(rex);
      expect(second.id).to.equal(first.id + 1n);
      await store.transfer.reserveIds(10n);
      expect(await collection('counters').findOne({ _id: 'pets' })).to.have.property('last', 5000n);
    }),
  );

  it(
    'writes all of it once though answers are lost, also of the insert',
    throughProxy(server, async ({ transfer, pets: repository, apiKeys }, proxy) => {
      await transfer.survey();
      for (const command of ['insert', 'update']) proxy.dropReplies.set(command, 2);
      await transfer.reserveIds(50n);
      await transfer.writePets(pets(50));
      expect(await transfer.readPets({ limit: 100 })).to.deep.equal(pets(50));
      proxy.dropReplies.set('update', 2);
      const claim = { ...claimOn('t'), petId: 5n };
      await transfer.writeClaims([claim]);
      await transfer.writeApiKeys([KEY]);
      expect(await apiKeys.list()).to.deep.equal([KEY]);
      const replay = await repository.add(rex, { claim: claimOn('t') });
      expect(replay).to.deep.equal({ pet: savedPet(5n, rex), replayed: true });
    }),
  );

  it(
    'sends a batch at once, written to the journals of a majority, and reads ranges of the _id from a majority',
    throughProxy(server, async ({ transfer }, proxy) => {
      await transfer.survey();
      proxy.commands.length = 0;
      await transfer.reserveIds(100n);
      await transfer.writePets(pets(100));
      await transfer.writeClaims([{ ...claimOn('t'), petId: 5n }]);
      await transfer.writeApiKeys([KEY]);
      const sent = (name: string) => proxy.commands.filter((command) => name in command);
      expect(sent('insert')).to.have.length(1);
      expect(sent('update')).to.have.length(3);
      for (const write of [...sent('insert'), ...sent('update')]) {
        expect(write['writeConcern']).to.include({ w: 'majority', j: true });
        expect(Number(write['maxTimeMS'])).to.equal(30_000);
        expect(write).to.not.have.any.keys('startTransaction', 'autocommit');
      }
      expect(sent('insert')[0]).to.include({ ordered: false });
      expect(Object.keys(sent('update')[0]?.['updates'][0].u)).to.deep.equal(['$max']);
      proxy.commands.length = 0;
      await transfer.readPets({ after: 5n, limit: 20 });
      const [read] = sent('find');
      expect(read?.['readConcern']).to.deep.include({ level: 'majority' });
      expect(Object.keys(read?.['filter']._id)).to.deep.equal(['$gt']);
      expect([Object.keys(read?.['sort']), Number(read?.['limit'])]).to.deep.equal([['_id'], 20]);
      expect(Object.keys(read?.['projection'])).to.deep.equal(['_id', 'name', 'categoryId', 'status']);
    }),
  );

  it(
    'waits with a batch for a database that is away, longer than one look-out for a server takes',
    throughProxy(server, async ({ transfer }, proxy) => {
      await transfer.survey();
      await proxy.close();
      const writing = transfer.writePets(pets(20));
      await delay(2500);
      await proxy.open();
      await writing;
      expect(await transfer.readPets({ limit: 50 })).to.deep.equal(pets(20));
    }),
  );

  it(
    'ends by its signal while nothing answers',
    throughProxy(server, async ({ transfer }, proxy) => {
      await transfer.survey();
      proxy.silent = true;
      const controller = new AbortController();
      const reason = new Error('given up');
      setTimeout(() => controller.abort(reason), 100);
      expect(await rejection(transfer.writePets(pets(2), { signal: controller.signal }))).to.equal(reason);
      await proxy.close();
    }),
  );

  it(
    'is known by what the server calls its collection, however it is reached, and no two stores alike',
    throughProxy(server, async ({ transfer }, _, database) => {
      const direct = await openMongoStore(uriOf(server, database));
      const { store } = await transfer.survey();
      const { store: same } = await direct.transfer.survey();
      await direct.close();
      expect(store).to.match(/^[0-9a-f-]{36}$/);
      expect(same).to.equal(store);
      await inDatabase(server, async (another) => {
        const other = await openMongoStore(uriOf(server, another));
        const survey = await other.transfer.survey();
        await other.close();
        expect(survey.store).to.not.equal(store);
      })();
    }),
  );

  const FAILURES: ReadonlyArray<readonly [what: string, data: object]> = [
    ['the connection is closed', { closeConnection: true }],
    ['the primary is stepping down', { errorCode: 189 }],
    [
      'the majority is late',
      { writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' } },
    ],
  ];
  for (const [what, data] of FAILURES) {
    const title = `writes a batch once when ${what}, three times in a row`;
    if (!server.failPoints) it(`${title} (not run: the server takes no failpoints)`);
    else
      it(
        title,
        inDatabase(server, (database) =>
          withDatabase(server, database, async (client) => {
            const appName = database;
            const uri = uriOf(server, database).replace(/appName=[^&]*/, `appName=${appName}`);
            const { transfer, close } = await openMongoStore(uri);
            const failCommands = ['insert', 'update'];
            const configure = (mode: unknown) =>
              client.db('admin').command({
                configureFailPoint: 'failCommand',
                mode,
                data: { ...data, failCommands, appName },
              });
            try {
              await transfer.survey();
              await configure({ times: 3 });
              await transfer.writePets(pets(20));
              expect(await transfer.readPets({ limit: 50 })).to.deep.equal(pets(20));
              await configure({ times: 3 });
              await transfer.writeApiKeys([KEY]);
              expect(await transfer.readApiKeys()).to.deep.equal([KEY]);
            } finally {
              await configure('off');
              await close();
            }
          }),
        ),
      );
  }
});

describeOnMongo('openMongoStore of a store that must exist', (server) => {
  const collectionsOf = (database: string): Promise<string[]> =>
    withDatabase(server, database, async (client) =>
      (await client.db().listCollections().toArray()).map(({ name }) => name).sort(),
    );

  it(
    'refuses a database that holds none, in one line without the password, and makes nothing there',
    inDatabase(server, async (database) => {
      const opening = openMongoStore(uriOf(server, database), { mustExist: true });
      const error = await rejection(opening);
      expect(error).to.be.instanceOf(MissingMongoStoreError);
      expect(error)
        .to.have.property('message')
        .that.matches(/^mongodb:\/\/[^@\n]+ holds no animal store: name the database of one\.$/)
        .and.includes(database);
      expect(await collectionsOf(database)).to.deep.equal([]);
    }),
  );

  it(
    'opens one that is there, and changes nothing in it: no index comes back that was removed',
    inDatabase(server, async (database) => {
      const first = await openMongoStore(uriOf(server, database));
      const { pet } = await first.pets.add(rex);
      await first.close();
      await withDatabase(server, database, async (client) => {
        for (const name of ['claims', 'apiKeys']) await client.db().dropCollection(name);
        const before = await collectionsOf(database);
        const told: string[] = [];
        const tell = (line: string): void => void told.push(line);
        const store = await openMongoStore(uriOf(server, database), { mustExist: true, tell });
        expect(await store.transfer.readPets({ limit: 5 })).to.deep.equal([pet]);
        expect(await store.transfer.readClaims({ limit: 5, now: new Date() })).to.deep.equal([]);
        expect(await store.apiKeys.list()).to.deep.equal([]);
        await store.close();
        expect(told).to.deep.equal([]);
        expect(await collectionsOf(database)).to.deep.equal(before);
      });
    }),
  );

  it('opens while the server is away, for it may come back, and says so when it is used', async () => {
    const proxy = await new MongoProxy(server).open();
    await proxy.close();
    const uri = uriOf(server, `none-${new ObjectId().toHexString()}`, { host: proxy.host });
    const store = await openMongoStore(uri, { mustExist: true });
    expect(await rejection(store.pets.check())).to.have.property('code', 'service_unavailable');
    await store.close();
  });
});
