import { expect } from 'chai';
import { MongoClient, type Db } from 'mongodb';
import { openMongoStore } from '../../../src/adapters/mongodb/index.js';
import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import { ReplicaSet, until } from './mongod.js';
import { describeOnOwnServers, newDatabaseName } from './mongo-server.js';
import { claimOn, rejection, rex } from './mongo-store-tests.js';
import { setTimeout as delay } from 'node:timers/promises';

/** Minutes of elections and kills, or one of a primary that is killed. */
const LONG = process.env['LONG'] === '1';
const STEP_DOWNS = LONG ? 20 : 0;
const KILLS = LONG ? 3 : 1;

const WRITERS = 8;

/** What became of animals that several writers added at once, each under a name of its own. */
class WriteLedger {
  /** The acknowledged ids, by the names of the animals. */
  readonly acknowledged = new Map<string, bigint>();
  readonly #failed: unknown[] = [];
  readonly #over = new AbortController();

  /** Adds from all writers without a pause, while something disturbs the database. */
  async addWhile(pets: PetRepository, disturb: () => Promise<void>): Promise<void> {
    const writers = Array.from({ length: WRITERS }, (_, writer) => this.#write(pets, writer));
    try {
      await disturb();
      await this.another(20);
    } finally {
      this.#over.abort();
      await Promise.all(writers);
    }
  }

  /** Resolves when so many more were acknowledged. */
  async another(count: number): Promise<void> {
    for (const wanted = this.acknowledged.size + count; this.acknowledged.size < wanted; await delay(5));
  }

  async #write(pets: PetRepository, writer: number): Promise<void> {
    for (let number = 0; !this.#over.signal.aborted; number += 1) {
      const name = `Rex ${number} of ${writer}`;
      try {
        const { pet } = await pets.add({ name, categoryId: 7n, status: 'sold' });
        this.acknowledged.set(name, pet.id);
      } catch (error) {
        this.#failed.push(error);
      }
    }
  }

  /** No add was refused; the majority has every animal that was acknowledged once, and no other. */
  async expectWhole(db: Db): Promise<void> {
    const stored = new Map<unknown, bigint[]>();
    const pets = db.collection('pets', { readConcern: { level: 'majority' } });
    for await (const { name, _id } of pets.find()) {
      stored.set(name, [...(stored.get(name) ?? []), BigInt(String(_id))]);
    }
    const lost = [...this.acknowledged].filter(([name, id]) => !stored.get(name)?.includes(id));
    const twice = [...stored.values()].filter((ids) => ids.length > 1);
    expect({ failed: this.#failed, lost, twice }).to.deep.equal({ failed: [], lost: [], twice: [] });
    expect(new Set(this.acknowledged.values()).size).to.equal(this.acknowledged.size);
    expect(stored.size).to.equal(this.acknowledged.size);
  }
}

interface Given {
  readonly pets: PetRepository;
  readonly client: MongoClient;
  readonly uri: string;
}

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

  it(
    'says that it is unavailable while a majority is away, and serves again when it is back',
    onStore(async ({ pets, uri }) => {
      const { pet } = await pets.add(rex);
      const impatient = await openMongoStore(uri, { timeout: 500 });
      await until('it is connected', () =>
        impatient.pets.list({ limit: 1 }).then(
          () => true,
          () => false,
        ),
      );
      const secondaries = await set.secondaries();
      for (const secondary of secondaries) secondary.freeze();
      const refused = await rejection(impatient.pets.add({ ...rex, name: 'undecided' }));
      for (const secondary of secondaries) secondary.thaw();
      await impatient.close();
      expect(refused).to.have.property('code', 'service_unavailable');
      const added = await pets.add({ ...rex, name: 'back' });
      const listed = await pets.list({ limit: 100 });
      expect(listed).to.deep.include.members([pet, added.pet]);
      // Nobody knows what became of the other one: it may be stored, once.
      expect(listed.filter(({ name }) => name === 'undecided').length).to.be.at.most(1);
    }),
  ).timeout(120_000);

  (LONG ? it : it.skip)(
    'never shows what no majority has, and adds once what is retried after it was rolled back',
    onStore(async ({ pets, client }) => {
      const { pet } = await pets.add(rex);
      const primary = await set.primary();
      const [first, second] = await set.secondaries();
      const rollbacks = async () => Number((await primary.administer({ replSetGetRBID: 1 }))['rbid']);
      const before = await rollbacks();
      await Promise.all([first?.kill(), second?.kill()]);
      // The primary takes both alone, before it finds out that it is.
      const claim = claimOn('rolled back');
      const adding = [pets.add({ ...rex, name: 'plain' }), pets.add({ ...rex, name: 'claimed' }, { claim })];
      const alone = (name: string) =>
        client.db().collection(name, { readConcern: { level: 'local' }, readPreference: 'nearest' });
      await until('the primary has taken both', async () => {
        const counts = await Promise.all([alone('pets').countDocuments(), alone('claims').countDocuments()]);
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

  // The last one: the primary that it kills stays away.
  it(
    `loses, duplicates and refuses no animal while primaries step down (${STEP_DOWNS}) and are killed (${KILLS}) under 8 writers`,
    onStore(async ({ pets, client }) => {
      const ledger = new WriteLedger();
      await ledger.addWhile(pets, async () => {
        for (let election = 1; election <= STEP_DOWNS; election += 1) {
          await ledger.another(20);
          await set.stepDown();
        }
        for (let kill = 1; kill <= KILLS; kill += 1) {
          await ledger.another(50);
          const primary = await set.primary();
          await primary.kill();
          await ledger.another(50);
          if (!LONG) continue;
          await primary.listen();
          await set.untilWhole();
        }
      });
      await ledger.expectWhole(client.db());
    }),
  ).timeout(300_000);
});
