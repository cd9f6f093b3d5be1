import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { openMongoStore, type MongoStore } from '../../src/adapters/mongodb/open-mongo-store.js';
import { openSqliteStore, type SqliteStore } from '../../src/adapters/sqlite/open-sqlite-store.js';
import type { Claim } from '../../src/application/ports/pet-repository.js';
import { savedPet, type Pet } from '../../src/domain/pet.js';
import { parse } from '../../src/exact-json.js';
import { MongoProxy } from '../adapters/mongodb/mongo-proxy.js';
import { describeOnMongo, uriOf, withDatabase } from '../adapters/mongodb/mongo-server.js';
import { claimOn, inDatabase, rex } from '../adapters/mongodb/mongo-store-tests.js';
import { fullKey, sampleKey } from '../contract/api-key-repository/subject.js';
import { INT64_EDGES, TRICKY_NAMES, times } from '../contract/samples.js';
import { cleanUp, program, temporaryFolder, type Outcome } from '../service/running-service.js';

/** All that a store keeps, claims by what they replay. */
async function contentOf({ transfer }: MongoStore | SqliteStore, now = new Date()): Promise<object> {
  const { lastId } = await transfer.survey();
  const claims = await transfer.readClaims({ limit: 1000, now });
  return {
    lastId,
    pets: await transfer.readPets({ limit: 100_000 }),
    claims: new Map(claims.map((claim) => [claim.token, claim])),
    keys: await transfer.readApiKeys(),
  };
}

async function using<Store extends MongoStore | SqliteStore, T>(
  opening: Promise<Store>,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await opening;
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

const animals = (count: number): Pet[] =>
  times(count, (number) => savedPet(BigInt(number), { ...rex, name: `Pet ${number}` }));

const fill = (opening: Promise<MongoStore | SqliteStore>, pets: readonly Pet[]): Promise<void> =>
  using(opening, async ({ transfer }) => {
    await transfer.reserveIds(pets.at(-1)?.id ?? 0n);
    await transfer.writePets(pets);
  });

/** Programs are started one after the other, and a busy machine takes its time: in milliseconds. */
const TIMEOUT = 60_000;

describeOnMongo('copy and MongoDB, as a program', (server) => {
  let folder: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(cleanUp);

  const copy = (from: string, to: string, ...more: readonly string[]): Promise<Outcome> =>
    program(folder, ['copy', '--from', from, '--to', to, ...more]).ended;

  const sqlite = (name: string): Promise<SqliteStore> => openSqliteStore(join(folder, name));

  it(
    'brings everything from SQLite to MongoDB and back: ids, keys and live claims hold, and ids go on',
    inDatabase(server, async (database) => {
      const uri = uriOf(server, database);
      const claims: Claim[] = times(5, (number) => claimOn(`token ${number}`));
      await using(sqlite('old.db'), async ({ pets, apiKeys, transfer }) => {
        for (const name of Object.values(TRICKY_NAMES)) await pets.add({ ...rex, name });
        for (const categoryId of INT64_EDGES) await pets.add({ ...rex, categoryId });
        await transfer.reserveIds(2n ** 53n);
        for (const claim of claims) await pets.add(rex, { claim });
        for (const key of [sampleKey(), fullKey()]) await apiKeys.add(key);
      });
      const before = await using(sqlite('old.db'), contentOf);

      const there = await copy('sqlite:old.db', uri, '--json');
      expect(there.code, there.err).to.equal(0);
      expect(there.err).to.include('--to: made the collection pets\n');
      expect(await using(openMongoStore(uri), contentOf)).to.deep.equal(before);
      const back = await copy(uri, 'sqlite:new.db', '--json');
      expect(back.code, back.err).to.equal(0);
      expect(await using(sqlite('new.db'), contentOf)).to.deep.equal(before);
      const [sent, returned] = [there, back].map(({ out }) => parse(out) as Record<string, unknown>);
      expect(sent).to.deep.include({ claims: 5n, apiKeys: 2n, lastId: 2n ** 53n + 5n });
      expect(returned?.['checksum']).to.equal(sent?.['checksum']);

      const copies: ReadonlyArray<Promise<MongoStore | SqliteStore>> = [
        openMongoStore(uri),
        sqlite('new.db'),
      ];
      for (const opening of copies) {
        await using(opening, async ({ pets }) => {
          for (const claim of claims) {
            const { replayed } = await pets.add(rex, { claim: { ...claim, now: new Date() } });
            expect(replayed).to.equal(true);
          }
          expect((await pets.add(rex)).pet.id > 2n ** 53n + 5n).to.equal(true);
        });
      }
    }),
  ).timeout(TIMEOUT);

  it(
    'copies one MongoDB database into another, with an animal of every block of ids that was in hand',
    inDatabase(server, (database) =>
      inDatabase(server, async (another) => {
        const [from, to] = [uriOf(server, database), uriOf(server, another)];
        await using(openMongoStore(from), ({ pets }) =>
          using(openMongoStore(from), async (other) => {
            for (const store of [pets, other.pets, pets]) await store.add(rex);
          }),
        );
        const { code, out, err } = await copy(from, to, '--json');
        expect(code, err).to.equal(0);
        expect(parse(out)).to.deep.include({ pets: 3n, lastId: 2000n });
        await using(openMongoStore(to), async ({ pets }) => {
          expect((await pets.list({ limit: 5 })).map(({ id }) => id)).to.deep.equal([1n, 2n, 1001n]);
          expect((await pets.add(rex)).pet.id).to.equal(2001n);
        });
      })(),
    ),
  ).timeout(TIMEOUT);

  it(
    'resumes after it was killed in the middle, and writes only what was missing',
    inDatabase(server, async (database) => {
      await fill(sqlite('old.db'), animals(4000));
      const proxy = await new MongoProxy(server).open();
      try {
        const through = uriOf(server, database, { host: proxy.host });
        const copying = program(folder, ['copy', '--from', 'sqlite:old.db', '--to', through]);
        proxy.onCommand = (name, count) =>
          name === 'insert' && count === 3 ? copying.stop('SIGKILL') : undefined;
        expect((await copying.ended).signal).to.equal('SIGKILL');
      } finally {
        await proxy.close();
      }
      const uri = uriOf(server, database);
      const there = await using(openMongoStore(uri), async ({ transfer }) => (await transfer.survey()).pets);
      expect(there).to.be.within(2000, 3000);

      const refused = await copy('sqlite:old.db', uri);
      expect(refused).to.include({ code: 1, out: '' });
      expect(refused.err).to.include('The target is not empty');
      const resumed = await copy('sqlite:old.db', uri, '--resume', '--json');
      expect(resumed.code, resumed.err).to.equal(0);
      expect(parse(resumed.out)).to.deep.include({ pets: 4000n, written: BigInt(4000 - there) });
      const [old, copied] = [
        await using(sqlite('old.db'), contentOf),
        await using(openMongoStore(uri), contentOf),
      ];
      expect(copied).to.deep.equal(old);
    }),
  ).timeout(TIMEOUT);

  it(
    'says that a MongoDB source was written to meanwhile, and brings the rest when it is resumed',
    inDatabase(server, (database) =>
      inDatabase(server, async (another) => {
        const [from, to] = [uriOf(server, database), uriOf(server, another)];
        await fill(openMongoStore(from), animals(10));
        const proxy = await new MongoProxy(server).open();
        const running = await openMongoStore(from);
        try {
          proxy.onCommand = (name, count) =>
            name === 'insert' && count === 1 ? running.pets.add({ ...rex, name: 'late' }) : undefined;
          const { code, out, err } = await copy(from, uriOf(server, another, { host: proxy.host }));
          expect({ code, out }, err).to.deep.equal({ code: 1, out: '' });
          expect(err).to.include('The source was written to meanwhile').and.include('--resume');
        } finally {
          await running.close();
          await proxy.close();
        }
        const resumed = await copy(from, to, '--resume', '--json');
        expect(resumed.code, resumed.err).to.equal(0);
        expect(parse(resumed.out)).to.deep.include({ pets: 11n });
      })(),
    ),
  ).timeout(TIMEOUT);

  it(
    'stops at a document that is no animal, names it, and goes on when it is removed',
    inDatabase(server, (database) =>
      withDatabase(server, database, async (client) => {
        const uri = uriOf(server, database);
        await fill(openMongoStore(uri), animals(3));
        const pets = client.db().collection<{ _id: bigint }>('pets');
        await pets.insertOne({ _id: 2n ** 40n }, { bypassDocumentValidation: true });
        const { code, out, err } = await copy(uri, 'sqlite:new.db');
        expect({ code, out }).to.deep.equal({ code: 1, out: '' });
        expect(err).to.include(`the documents 1099511627776n in pets cannot be copied`);
        await pets.deleteOne({ _id: 2n ** 40n });
        const resumed = await copy(uri, 'sqlite:new.db', '--resume');
        expect(resumed.code, resumed.err).to.equal(0);
      }),
    ),
  ).timeout(TIMEOUT);

  it(
    'refuses a database as its own target, by whatever address it is reached',
    inDatabase(server, async (database) => {
      const uri = uriOf(server, database);
      await fill(openMongoStore(uri), animals(3));
      const same = await copy(uri, `${uri}&maxPoolSize=3`, '--resume');
      expect(same).to.include({ code: 2, out: '' });
      expect(same.err).to.include('--from and --to name the same store');
      const proxy = await new MongoProxy(server).open();
      const other = await copy(uri, uriOf(server, database, { host: proxy.host }), '--resume');
      await proxy.close();
      expect(other).to.include({ code: 1, out: '' });
      expect(other.err).to.include('The source and the target are the same store.');
      expect(proxy.count('insert') + proxy.count('update')).to.equal(0);
    }),
  ).timeout(TIMEOUT);

  it(
    'refuses a source whose database is mistyped, in one line, and makes neither store',
    inDatabase(server, async (database) => {
      const { code, out, err } = await copy(uriOf(server, database), 'sqlite:new.db');
      expect({ code, out }).to.deep.equal({ code: 1, out: '' });
      expect(err).to.match(/^mongodb:[^\n]* holds no animal store: name the database of one\.\n$/);
      await withDatabase(server, database, async (client) => {
        expect(await client.db().listCollections().toArray()).to.deep.equal([]);
      });
    }),
  ).timeout(TIMEOUT);

  it('says at once that a server is away, and why, without the password', async () => {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    listener.close();
    const away = `mongodb://me:hunter2@127.0.0.1:${port}/animals`;
    await fill(sqlite('old.db'), animals(1));
    for (const [from, to] of [
      ['sqlite:old.db', away],
      [away, 'sqlite:new.db'],
    ] as const) {
      const { code, out, err } = await copy(from, to);
      expect({ code, out }, err).to.deep.equal({ code: 1, out: '' });
      expect(err).to.include('The store is not available').and.include('ECONNREFUSED');
      expect(err).to.not.include('hunter2');
    }
  }).timeout(TIMEOUT);
});
