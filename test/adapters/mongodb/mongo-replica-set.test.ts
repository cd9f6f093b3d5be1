import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { openMongoStore, type MongoStore } from '../../../src/adapters/mongodb/open-mongo-store.js';
import { newDatabaseName } from './mongo-server.js';
import { claimOn, rejection, rex } from './mongo-store-tests.js';
import { describeOnReplicaSet, type OwnReplicaSet } from './own-replica-set.js';
import { WriteLedger } from './write-ledger.js';

const STEP_DOWNS = 20;
const KILLS = 3;

/** How long a call may take where members are lost, in milliseconds: an election takes a busy machine some seconds. */
const PATIENT = 20_000;

describeOnReplicaSet('A MongoDB store in a replica set of three', (open) => {
  /** Runs a test on a store in a replica set of its own. */
  const onStore =
    (
      test: (store: MongoStore, set: OwnReplicaSet, client: MongoClient) => Promise<void>,
      timeout = 5000,
    ): (() => Promise<void>) =>
    async () => {
      const set = await open();
      const uri = set.uri(newDatabaseName());
      const store = await openMongoStore(uri, { timeout });
      const client = new MongoClient(uri, { useBigInt64: true });
      try {
        await store.pets.check();
        await test(store, set, client);
      } finally {
        await store.close();
        await client.close();
      }
    };

  it(
    `loses no animal it acknowledged, keeps none twice and refuses none: ${STEP_DOWNS} elections under 8 writers`,
    onStore(async ({ pets }, set, client) => {
      const ledger = new WriteLedger();
      await ledger.addWhile(pets, async () => {
        for (let election = 1; election <= STEP_DOWNS; election += 1) {
          await ledger.another(20);
          await set.stepDown();
        }
      });
      ledger.expectWhole(await ledger.audit(client));
    }, PATIENT),
  ).timeout(300_000);

  it(
    `loses and refuses nothing when its primary is killed, ${KILLS} times under 8 writers, and comes back as a secondary`,
    onStore(async ({ pets }, set, client) => {
      const ledger = new WriteLedger();
      await ledger.addWhile(pets, async () => {
        for (let kill = 1; kill <= KILLS; kill += 1) {
          await ledger.another(50);
          const primary = await set.primary();
          await primary.kill();
          await ledger.another(50);
          await primary.listen();
          await set.untilWhole();
        }
      });
      ledger.expectWhole(await ledger.audit(client));
    }, PATIENT),
  ).timeout(300_000);

  it(
    'says that it is not available while a majority is away, and serves again when it is back',
    onStore(async ({ pets }, set) => {
      const { pet } = await pets.add(rex);
      const secondaries = await set.secondaries();
      for (const secondary of secondaries) secondary.freeze();
      const refused = await rejection(pets.add({ ...rex, name: 'undecided' }));
      expect(refused).to.have.property('code', 'service_unavailable');
      // What was answered while it lasted is what a majority had.
      const seen = await pets.list({ limit: 5 }).catch((error: unknown) => error);
      if (Array.isArray(seen)) expect(seen).to.deep.equal([pet]);
      else expect(seen).to.have.property('code', 'service_unavailable');
      for (const secondary of secondaries) secondary.thaw();
      for (let tries = 1; ; tries += 1) {
        const added = await pets.add({ ...rex, name: `try ${tries}` }).catch(() => undefined);
        if (added === undefined) continue;
        const listed = await pets.list({ limit: 100 });
        expect(listed).to.deep.include(pet);
        expect(listed).to.deep.include(added.pet);
        // Nobody was told what became of the others: they may be there, once.
        expect(new Set(listed.map(({ name }) => name)).size).to.equal(listed.length);
        return;
      }
    }),
  ).timeout(120_000);

  it(
    'never shows what no majority has, and adds once what was repeated after it was rolled back',
    onStore(async ({ pets }, set, client) => {
      const { pet } = await pets.add(rex);
      const primary = await set.primary();
      const [first, second] = await set.secondaries();
      const rollbacks = async () => Number((await primary.administer({ replSetGetRBID: 1 }))['rbid']);
      const before = await rollbacks();
      await Promise.all([first?.kill(), second?.kill()]);
      // The primary takes both, alone, before it finds out that it is.
      const claim = claimOn('rolled back');
      const adding = [pets.add({ ...rex, name: 'plain' }), pets.add({ ...rex, name: 'claimed' }, { claim })];
      const alone = client
        .db()
        .collection('pets', { readConcern: { level: 'local' }, readPreference: 'nearest' });
      for (const since = performance.now(); (await alone.countDocuments()) < 2; await delay(10)) {
        if (performance.now() - since > 10_000) throw new Error('the primary takes nothing by itself');
      }
      const seen = await pets
        .list({ limit: 5 }, { signal: AbortSignal.timeout(1000) })
        .catch(() => undefined);
      // Where it has found out meanwhile, it answers nothing.
      if (seen !== undefined) expect(seen).to.deep.equal([pet]);
      await primary.kill();
      await Promise.all([first?.listen(), second?.listen()]);
      const outcomes = await Promise.allSettled(adding);
      await set.primary();
      await primary.listen();
      await set.untilWhole();
      expect(await rollbacks(), 'rollbacks of the old primary').to.be.above(before);

      const repeated = await pets.add({ ...rex, name: 'claimed' }, { claim: { ...claim, now: new Date() } });
      const listed = await pets.list({ limit: 10 });
      expect(listed.filter(({ name }) => name === 'Rex')).to.deep.equal([pet]);
      expect(listed.filter(({ name }) => name === 'claimed')).to.deep.equal([repeated.pet]);
      const [plain, claimed] = outcomes;
      if (plain?.status === 'fulfilled') expect(listed).to.deep.include(plain.value.pet);
      if (claimed?.status === 'fulfilled') expect(claimed.value.pet).to.deep.equal(repeated.pet);
      expect(new Set(listed.map(({ id }) => id)).size).to.equal(listed.length);
      expect(listed.length).to.be.below(4);
    }, PATIENT),
  ).timeout(120_000);
});
