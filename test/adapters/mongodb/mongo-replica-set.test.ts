import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { openMongoStore } from '../../../src/adapters/mongodb/index.js';
import { until } from '../../until.js';
import { ReplicaSet } from './mongod.js';
import { describeOnOwnServers, newDatabaseName } from './mongo-server.js';
import { claimOn, openNoting, rex, unavailable, untilReady } from './mongo-store-tests.js';

/** What a store says of a database that it cannot use, once it has said something, and why a call is refused then. */
async function reasonsOf(uri: string) {
  const { store, notices } = await openNoting(uri);
  // Five seconds, and what a busy machine may take.
  await until('it says why', async () => notices.length > 0, 9000);
  const cause = await unavailable(store.check());
  await store.close();
  return { notices, cause };
}

/** A rollback takes long. */
const LONG = process.env['LONG'] === '1';
// Elections and kills under load: the attack `faults`.
describeOnOwnServers('A MongoDB store in a replica set of three', (_create, binary) => {
  let set: ReplicaSet;
  before(async function () {
    this.timeout(120_000);
    set = await ReplicaSet.start(binary);
  });
  after(() => set.remove());

  /** Opens a store on a whole set. It is patient: an election takes a busy machine some seconds. */
  async function openPatient(uri: string) {
    await set.untilWhole();
    return openNoting(uri, { timeout: 30_000 });
  }

  it('says that it is unavailable while a majority is, and serves again afterwards', async () => {
    const uri = set.uri(newDatabaseName());
    const { store } = await openPatient(uri);
    const pet = await store.pets.add(rex);
    const impatient = await openMongoStore(uri, { timeout: 500 });
    await untilReady(impatient);
    const secondaries = await set.secondaries();
    for (const secondary of secondaries) secondary.freeze();

    await unavailable(impatient.pets.add({ ...rex, name: 'undecided' }));
    for (const secondary of secondaries) secondary.thaw();
    await impatient.close();
    const added = await store.pets.add({ ...rex, name: 'back' });

    const listed = await store.pets.list({ limit: 100 });
    await store.close();
    expect(listed).to.deep.include.members([pet, added]);
    // The outcome of the other one is unknown: it may be stored, once.
    const undecided = listed.filter(({ name }) => name === 'undecided');
    expect(undecided.length, 'undecided animals').to.be.at.most(1);
  }).timeout(120_000);

  it('is unreachable by a URL that leads to a secondary alone: no call succeeds, and the reason is said', async () => {
    const [secondary] = await set.secondaries();
    await secondary?.administer({ replSetFreeze: 120 }); // seconds in which it does not become primary
    const uri = secondary?.uri(newDatabaseName()) ?? '';
    const timeout = 300;
    const { store, notices } = await openNoting(uri, { timeout });
    await until('it is said', () => notices.length > 0);
    await delay(timeout);

    const calls = [store.check(), store.pets.list({ limit: 5 }), store.pets.add(rex)];
    const reasons = await Promise.all(calls.map(unavailable));
    await store.close();

    for (const reason of reasons)
      expect(reason).to.include('takes no writes: name the replica set');
  });

  for (const [where, pattern, options] of [
    ['its hosts', /replicaSet=.*/, 'replicaSet=others'],
    ['one host', /,.*/, '/db?directConnection=true&replicaSet=others'],
  ] as const) {
    it(`says within five seconds which replica set is there when the URL names another, with ${where}`, async () => {
      await set.untilWhole();
      const uri = set.uri('db').replace(pattern, options);

      const { notices, cause } = await reasonsOf(uri);

      expect(notices).to.have.length(1);
      for (const reason of [...notices, cause])
        expect(reason).to.match(
          /the URL names the replica set others; that of 127\.0\.0\.1:\d+ is animals$/,
        );
    });
  }

  const rolledBack =
    'never shows what no majority has, and adds once what is retried after it was rolled back';
  const rollBack = async (): Promise<void> => {
    const uri = set.uri(newDatabaseName());
    const { store } = await openPatient(uri);
    const { pets } = store;
    await using client = new MongoClient(uri);
    const pet = await pets.add(rex);
    const claim = claimOn('rolled back');
    const claimedPet = { ...rex, name: 'claimed' };
    const addClaimed = () => pets.addOnce(claimedPet, claim, Date.now());
    const primary = await set.primary();
    const secondaries = await set.secondaries();
    const rollbacks = async () => Number((await primary.administer({ replSetGetRBID: 1 }))['rbid']);
    const before = await rollbacks();

    await Promise.all(secondaries.map((secondary) => secondary.kill()));
    // The primary takes both alone, before it finds out that it is.
    const adding = Promise.allSettled([pets.add({ ...rex, name: 'plain' }), addClaimed()]);
    const alone = { readConcern: { level: 'local' }, readPreference: 'nearest' } as const;
    const counted = (name: string) => client.db().collection(name, alone).countDocuments();
    await until(
      'the primary has taken both',
      async () => (await counted('pets')) === 2 && (await counted('claims')) === 1,
    );
    const signal = AbortSignal.timeout(1000);
    const seen = await pets.list({ limit: 5 }, { signal }).catch(() => [pet]);
    await primary.kill();
    await Promise.all(secondaries.map((secondary) => secondary.listen()));
    const [plain, claimed] = await adding;
    await set.primary();
    await primary.listen();
    await set.untilWhole();
    const after = await rollbacks();
    const retried = await addClaimed();

    expect(seen, 'before the rollback').to.deep.equal([pet]);
    expect(after, 'rollbacks of the old primary').to.be.above(before);
    const listed = await pets.list({ limit: 10 });
    const added = listed.filter(({ name }) => name === 'claimed');
    expect(added).to.deep.equal([retried.pet]);
    if (plain.status === 'fulfilled') expect(listed).to.deep.include(plain.value);
    if (claimed.status === 'fulfilled') expect(claimed.value.pet).to.deep.equal(retried.pet);
    const ids = new Set(listed.map(({ id }) => id));
    expect(ids, 'different ids').to.have.property('size', listed.length);
    expect(listed.length, 'animals').to.be.below(4);
    await store.close();
  };
  if (LONG) it(rolledBack, rollBack).timeout(120_000);
});

describeOnOwnServers(
  'A MongoDB store on a server that is no member of its replica set',
  (create) => {
    it('says within five seconds that the replica set was never initiated, whatever the URL names', async () => {
      const server = await create({ replicaSet: true });
      await server.listen();

      for (const options of ['', '?directConnection=true', '?replicaSet=animals']) {
        const { notices, cause } = await reasonsOf(`mongodb://${server.host}/db${options}`);

        for (const reason of [...notices, cause])
          expect(reason, options).to.match(/the replica set of 127\.0\.0\.1:\d+ is not initiated/);
      }
    }).timeout(90_000);

    it('says within five seconds that the server belongs to none', async () => {
      const server = await (await create({ replicaSet: false })).start();

      const { cause } = await reasonsOf(`mongodb://${server.host}/db?replicaSet=animals`);

      expect(cause).to.match(
        /the URL names the replica set animals; that of 127\.0\.0\.1:\d+ is none$/,
      );
    });
  },
);
