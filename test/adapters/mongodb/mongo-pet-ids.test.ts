import { expect } from 'chai';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Collection } from 'mongodb';
import { openMongoStore, type MongoStore } from '../../../src/adapters/mongodb/open-mongo-store.js';
import { describeOnMongo, uriOf, withDatabase } from './mongo-server.js';
import { claimOn, inDatabase, openMadeStore, rejection, rex } from './mongo-store-tests.js';

const PROCESSES = 4;
const CREATES = 4000;

interface AnyDocument {
  readonly _id: bigint | string;
  readonly [field: string]: unknown;
}

const idsOf = async ({ pets }: MongoStore, count: number): Promise<bigint[]> =>
  (await Promise.all(Array.from({ length: count }, () => pets.add(rex)))).map(({ pet }) => pet.id);

describeOnMongo('The ids of a MongoDB store', (server) => {
  /** Runs a test on a store and, beside it, on its collections. */
  const onCollections = (
    test: (
      store: MongoStore,
      collections: { readonly [Name in 'pets' | 'counters' | 'claims']: Collection<AnyDocument> },
      reopen: () => Promise<MongoStore>,
    ) => Promise<void>,
  ): (() => Promise<void>) =>
    inDatabase(server, (database) =>
      withDatabase(server, database, async (client) => {
        const opened: MongoStore[] = [];
        const open = async (): Promise<MongoStore> => {
          const store = await openMadeStore(uriOf(server, database));
          opened.push(store);
          return store;
        };
        const [pets, counters, claims] = ['pets', 'counters', 'claims'].map((name) =>
          client.db().collection<AnyDocument>(name),
        );
        if (!pets || !counters || !claims) throw new Error('there are three');
        try {
          await test(await open(), { pets, counters, claims }, open);
        } finally {
          for (const store of opened) await store.close();
        }
      }),
    );

  it(
    `are ${PROCESSES * CREATES} distinct ones for ${PROCESSES} processes that add ${CREATES} each at once`,
    inDatabase(server, async (database) => {
      const first = await openMongoStore(uriOf(server, database));
      await first.pets.check();
      await first.close();
      const program = fileURLToPath(new URL('./adding-process.js', import.meta.url));
      const outputs = await Promise.all(
        Array.from({ length: PROCESSES }, async () => {
          // Without the driver's own repeating: a server may keep every write that could be repeated, and slow down.
          const uri = `${uriOf(server, database)}&retryWrites=false`;
          const child = fork(program, [uri, String(CREATES)], { silent: true });
          if (child.stdout === null) throw new Error('its output is not piped');
          const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
          return output.split('\n');
        }),
      );
      expect(outputs.map((ids) => ids.length)).to.deep.equal(Array(PROCESSES).fill(CREATES));
      expect(new Set(outputs.flat()).size).to.equal(PROCESSES * CREATES);
      const stored = await withDatabase(server, database, (client) =>
        client.db().collection('pets').countDocuments(),
      );
      expect(stored).to.equal(PROCESSES * CREATES);
    }),
  ).timeout(180_000);

  it(
    'go on above those in use when the counter was lost, in a process that was running and in a new one',
    onCollections(async (store, { counters }, reopen) => {
      const before = await idsOf(store, 5);
      await counters.deleteMany({});
      const other = await reopen();
      const later = [...(await idsOf(other, 3)), ...(await idsOf(store, 30))];
      expect(new Set([...before, ...later]).size).to.equal(before.length + later.length);
      expect(later.slice(0, 3).every((id) => before.every((earlier) => earlier < id))).to.equal(true);
    }),
  );

  it(
    'go on above those in use when the counter was restored to an older state',
    onCollections(async (store, { counters, pets }, reopen) => {
      await idsOf(store, 5);
      await pets.insertOne({ _id: 5000n, name: 'Rex', categoryId: 7n, status: 'sold' });
      await counters.updateOne({ _id: 'pets' }, { $set: { last: 1n } });
      const [id = 0n] = await idsOf(await reopen(), 1);
      expect(id > 5000n).to.equal(true);
    }),
  );

  it(
    'pass over those that others put under the ids of a block that is in hand',
    onCollections(async (store, { pets }) => {
      const [first = 0n] = await idsOf(store, 1);
      const others = Array.from({ length: 300 }, (_, index) => first + 1n + BigInt(index));
      await pets.insertMany(others.map((_id) => ({ _id, name: 'Another', categoryId: 1n, status: 'sold' })));
      const added = [
        ...(await idsOf(store, 20)),
        (await store.pets.add(rex, { claim: claimOn('t') })).pet.id,
      ];
      expect(added.every((id) => id > first + 300n)).to.equal(true);
      expect(new Set(added).size).to.equal(21);
      expect((await store.pets.add(rex, { claim: claimOn('t') })).pet.id).to.equal(added.at(-1));
      expect(await pets.countDocuments({ name: 'Another' })).to.equal(300);
    }),
  );

  it(
    'are given by a claim anew when another animal has the one that it decided',
    onCollections(async (store, { pets, claims }) => {
      const made = await store.pets.add(rex, { claim: claimOn('t') });
      // As if the maker had ended between the two writes, and a restore had put another animal there.
      await pets.deleteMany({});
      await pets.insertOne({ _id: made.pet.id, name: 'Another', categoryId: 1n, status: 'sold' });
      const replay = await store.pets.add(rex, { claim: claimOn('t') });
      expect(replay.replayed).to.equal(true);
      expect(replay.pet).to.deep.equal({ ...made.pet, id: replay.pet.id });
      expect(replay.pet.id > made.pet.id).to.equal(true);
      expect(await store.pets.findById(replay.pet.id)).to.deep.equal(replay.pet);
      expect(await claims.countDocuments()).to.equal(1);
      expect(await store.pets.add(rex, { claim: claimOn('t') })).to.deep.equal(replay);
    }),
  );

  it(
    'are never used again after all animals are gone, in a process that was running and in a new one',
    onCollections(async (store, { pets }, reopen) => {
      const before = await idsOf(store, 5);
      await pets.deleteMany({});
      const later = [...(await idsOf(store, 2)), ...(await idsOf(await reopen(), 2))];
      expect(later.filter((id) => before.some((earlier) => earlier >= id))).to.deep.equal([]);
    }),
  );

  it(
    'are exact beyond 2^53, whatever type the counter has',
    onCollections(async (store, { counters }) => {
      await counters.insertOne({ _id: 'pets', last: 2n ** 53n });
      const [id = 0n] = await idsOf(store, 1);
      expect(id).to.equal(2n ** 53n + 1n);
      expect((await store.pets.findById(id))?.id).to.equal(id);
      expect(await store.pets.findById(id + 1n)).to.equal(undefined);
    }),
  );

  for (const [what, last] of [
    ['no number', 'many'],
    ['at its end', 2n ** 63n - 1n],
  ] as const) {
    it(
      `are refused with the reason, and without trying for ever, when the counter is ${what}`,
      onCollections(async (store, { counters }) => {
        await counters.insertOne({ _id: 'pets', last });
        const began = performance.now();
        const error = await rejection(store.pets.add(rex));
        expect(error).to.have.property('code', 'service_unavailable');
        expect(error).to.have.nested.property('cause.message').that.is.a('string');
        expect(performance.now() - began).to.be.below(6000);
      }),
    );
  }
});
