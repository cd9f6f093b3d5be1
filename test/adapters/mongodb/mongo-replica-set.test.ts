import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { openMongoStore } from '../../../src/adapters/mongodb/index.js';
import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import { until } from '../../until.js';
import { ReplicaSet } from './mongod.js';
import { describeOnOwnServers, newDatabaseName } from './mongo-server.js';
import { claimOn, rejection, rex, unavailable, untilReady } from './mongo-store-tests.js';

/** A rollback takes long. */
const LONG = process.env['LONG'] === '1';
interface Given {
  readonly pets: PetRepository;
  readonly client: MongoClient;
  readonly uri: string;
}

// Elections and kills under load: the attack `faults`.
describeOnOwnServers('A MongoDB store in a replica set of three', (_create, binary) => {
  let set: ReplicaSet;
  before(async function () {
    this.timeout(120_000);
    set = await ReplicaSet.start(binary);
  });
  after(() => set.remove());

  const onStore = (test: (given: Given) => Promise<void>) => async (): Promise<void> => {
    await set.untilWhole();
    const uri = set.uri(newDatabaseName());
    // Patient: an election takes a busy machine some seconds.
    const store = await openMongoStore(uri, { timeout: 30_000 });
    const client = new MongoClient(uri, { serverMonitoringMode: 'poll', useBigInt64: true });
    try {
      await store.pets.list({ limit: 1 });
      await test({ pets: store.pets, client, uri });
    } finally {
      await store.close();
      await client.close();
    }
  };

  it('is not said to be away because one member is', async () => {
    await set.untilWhole();
    const uri = set.uri(newDatabaseName()).replace('://', '://127.0.0.1:1,');
    const notices: string[] = [];
    const store = await openMongoStore(uri, {
      timeout: 30_000,
      onNotice: (line) => notices.push(line),
    });
    await store.pets.add(rex);
    await store.close();
    expect(notices.filter((line) => / is (?:away|back)/.test(line))).to.deep.equal([]);
  }).timeout(120_000);

  it(
    'says that it is unavailable while a majority is away, and serves again when it is back',
    onStore(async ({ pets, uri }) => {
      const { pet } = await pets.add(rex);
      const impatient = await openMongoStore(uri, { timeout: 500 });
      await untilReady(impatient);
      const secondaries = await set.secondaries();
      for (const secondary of secondaries) secondary.freeze();
      await unavailable(impatient.pets.add({ ...rex, name: 'undecided' }));
      for (const secondary of secondaries) secondary.thaw();
      await impatient.close();
      const added = await pets.add({ ...rex, name: 'back' });
      const listed = await pets.list({ limit: 100 });
      expect(listed).to.deep.include.members([pet, added.pet]);
      // The outcome of the other one is unknown: it may be stored, once.
      expect(listed.filter(({ name }) => name === 'undecided').length).to.be.at.most(1);
    }),
  ).timeout(120_000);

  it('is away to a store whose URL leads to a secondary alone: no call succeeds, and the reason is said', async () => {
    const [secondary] = await set.secondaries();
    const uri = secondary?.uri(newDatabaseName()) ?? '';
    const store = await openMongoStore(uri, { timeout: 300 });
    await rejection(store.pets.add(rex));
    await delay(1000);
    const { pets } = store;
    for (const call of [() => pets.check(), () => pets.list({ limit: 5 }), () => pets.add(rex)]) {
      expect(await unavailable(call())).to.include('takes no writes: name the replica set');
    }
    await store.close();
  }).timeout(60_000);

  (LONG ? it : it.skip)(
    'never shows what no majority has, and adds once what is retried after it was rolled back',
    onStore(async ({ pets, client }) => {
      const { pet } = await pets.add(rex);
      const primary = await set.primary();
      const [first, second] = await set.secondaries();
      const rollbacks = async () =>
        Number((await primary.administer({ replSetGetRBID: 1 }))['rbid']);
      const before = await rollbacks();
      await Promise.all([first?.kill(), second?.kill()]);
      // The primary takes both alone, before it finds out that it is.
      const claim = claimOn('rolled back');
      const adding = [
        pets.add({ ...rex, name: 'plain' }),
        pets.add({ ...rex, name: 'claimed' }, { claim }),
      ];
      const alone = (name: string) =>
        client
          .db()
          .collection(name, { readConcern: { level: 'local' }, readPreference: 'nearest' });
      await until('the primary has taken both', async () => {
        const counts = await Promise.all([
          alone('pets').countDocuments(),
          alone('claims').countDocuments(),
        ]);
        return counts[0] === 2 && counts[1] === 1;
      });
      const signal = AbortSignal.timeout(1000);
      const seen = await pets.list({ limit: 5 }, { signal }).catch(() => [pet]);
      expect(seen).to.deep.equal([pet]);
      await primary.kill();
      await Promise.all([first?.listen(), second?.listen()]);
      const outcomes = await Promise.allSettled(adding);
      await set.primary();
      await primary.listen();
      await set.untilWhole();
      expect(await rollbacks(), 'rollbacks of the old primary').to.be.above(before);

      const retried = await pets.add({ ...rex, name: 'claimed' }, { claim });
      const listed = await pets.list({ limit: 10 });
      expect(listed.filter(({ name }) => name === 'claimed')).to.deep.equal([retried.pet]);
      const [plain, claimed] = outcomes;
      if (plain?.status === 'fulfilled') expect(listed).to.deep.include(plain.value.pet);
      if (claimed?.status === 'fulfilled') expect(claimed.value.pet).to.deep.equal(retried.pet);
      expect(new Set(listed.map(({ id }) => id)).size).to.equal(listed.length);
      expect(listed.length).to.be.below(4);
    }),
  ).timeout(120_000);
});
