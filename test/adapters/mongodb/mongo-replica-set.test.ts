import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { openMongoStore } from '../../../src/adapters/mongodb/index.js';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import { until } from '../../until.js';
import { ReplicaSet } from './mongod.js';
import { describeOnOwnServers, newDatabaseName } from './mongo-server.js';
import { claimOn, rejection, rex, unavailable, untilReady } from './mongo-store-tests.js';

/** What a store says of a database that it cannot use, once it has said something, and why a call is refused then. */
async function whyAway(uri: string) {
  const reasons: string[] = [];
  const store = await openMongoStore(uri, { onNotice: (line) => reasons.push(line) });
  // Five seconds, and what a busy machine may take.
  await until('it says why', async () => reasons.length > 0, 9000);
  const cause = await unavailable(store.check());
  await store.close();
  return { reasons, cause };
}

/** A rollback takes long. */
const LONG = process.env['LONG'] === '1';
interface Given {
  readonly pets: CompleteStore['pets'];
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
    expect(notices.filter((line) => / is (?:un)?reachable/.test(line))).to.deep.equal([]);
  }).timeout(120_000);

  it(
    'says that it is unavailable while a majority is away, and serves again when it is back',
    onStore(async ({ pets, uri }) => {
      const pet = await pets.add(rex);
      const impatient = await openMongoStore(uri, { timeout: 500 });
      await untilReady(impatient);
      const secondaries = await set.secondaries();
      for (const secondary of secondaries) secondary.freeze();
      await unavailable(impatient.pets.add({ ...rex, name: 'undecided' }));
      for (const secondary of secondaries) secondary.thaw();
      await impatient.close();
      const added = await pets.add({ ...rex, name: 'back' });
      const listed = await pets.list({ limit: 100 });
      expect(listed).to.deep.include.members([pet, added]);
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
    for (const call of [() => store.check(), () => pets.list({ limit: 5 }), () => pets.add(rex)]) {
      expect(await unavailable(call())).to.include('takes no writes: name the replica set');
    }
    await store.close();
  }).timeout(60_000);

  for (const [where, uriOf] of [
    ['its hosts', (uri: string) => uri.replace(/replicaSet=.*/, 'replicaSet=others')],
    [
      'one host',
      (uri: string) => uri.replace(/,.*/, '/db?directConnection=true&replicaSet=others'),
    ],
  ] as const) {
    it(`says within five seconds which replica set is there when the URL names another, with ${where}`, async () => {
      await set.untilWhole();
      const { reasons, cause } = await whyAway(uriOf(set.uri('db')));
      expect(reasons).to.have.length(1);
      for (const reason of [...reasons, cause])
        expect(reason).to.match(
          /the URL names the replica set others; that of 127\.0\.0\.1:\d+ is animals$/,
        );
    }).timeout(60_000);
  }

  (LONG ? it : it.skip)(
    'never shows what no majority has, and adds once what is retried after it was rolled back',
    onStore(async ({ pets, client }) => {
      const pet = await pets.add(rex);
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
        pets.addOnce({ ...rex, name: 'claimed' }, claim, Date.now()),
      ] as const;
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

      const retried = await pets.addOnce({ ...rex, name: 'claimed' }, claim, Date.now());
      const listed = await pets.list({ limit: 10 });
      expect(listed.filter(({ name }) => name === 'claimed')).to.deep.equal([retried.pet]);
      const [plain, claimed] = outcomes;
      if (plain?.status === 'fulfilled') expect(listed).to.deep.include(plain.value);
      if (claimed?.status === 'fulfilled') expect(claimed.value.pet).to.deep.equal(retried.pet);
      expect(new Set(listed.map(({ id }) => id)).size).to.equal(listed.length);
      expect(listed.length).to.be.below(4);
    }),
  ).timeout(120_000);
});

describeOnOwnServers(
  'A MongoDB store on a server that is no member of its replica set',
  (create) => {
    it('says within five seconds that the replica set was never initiated, whatever the URL names', async () => {
      const server = await create({ replicaSet: true });
      await server.listen();
      const uri = `mongodb://${server.host}/db`;
      for (const options of ['', '?directConnection=true', '?replicaSet=animals']) {
        const { reasons, cause } = await whyAway(uri + options);
        for (const reason of [...reasons, cause])
          expect(reason, options).to.match(/the replica set of 127\.0\.0\.1:\d+ is not initiated/);
      }
    }).timeout(90_000);

    it('says within five seconds that the server belongs to none', async () => {
      const server = await (await create({ replicaSet: false })).start();
      const { cause } = await whyAway(`mongodb://${server.host}/db?replicaSet=animals`);
      expect(cause).to.match(
        /the URL names the replica set animals; that of 127\.0\.0\.1:\d+ is none$/,
      );
    }).timeout(60_000);
  },
);
