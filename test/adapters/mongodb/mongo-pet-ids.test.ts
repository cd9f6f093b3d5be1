import { expect } from 'chai';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import { claimOn, describeStore, rex, unavailable } from './mongo-store-tests.js';

const idsOf = async ({ pets }: CompleteStore, count: number): Promise<bigint[]> =>
  (await Promise.all(Array.from({ length: count }, () => pets.add(rex)))).map(({ id }) => id);

const another = (_id: bigint) => ({ _id, name: 'Another', categoryId: 1n, status: 'sold' });

describeStore('The ids of a MongoDB store', ({ onStore, throughProxy }) => {
  onStore(
    'continue above those in use when the counter was restored to an older state',
    async ({ store, collection, open }) => {
      await idsOf(store, 5);
      await collection('pets').insertOne(another(5000n));
      await collection('counters').updateOne({}, { $set: { last: 1n } });
      const [id = 0n] = await idsOf(await open(), 1);
      expect(id > 5000n).to.equal(true);
    },
  );

  onStore(
    'become visible behind greater ones, so that a poll after the greatest misses them and a list of all does not',
    async ({ store, open }) => {
      const other = await open();
      const [first = 0n] = await idsOf(store, 1);
      const [greatest = 0n] = await idsOf(other, 1);
      const [late = 0n] = await idsOf(store, 1);
      expect([late, greatest > late]).to.deep.equal([first + 1n, true]);
      expect(await other.pets.list({ after: greatest, limit: 5 })).to.deep.equal([]);
      const all = await other.pets.list({ limit: 5 });
      expect(all.map(({ id }) => id)).to.deep.equal([first, late, greatest]);
    },
  );

  onStore('skip those that others took from the block in hand', async ({ store, collection }) => {
    const [first = 0n] = await idsOf(store, 1);
    const taken = Array.from({ length: 300 }, (_, index) => another(first + 1n + BigInt(index)));
    await collection('pets').insertMany(taken);
    const [claimed, others] = await Promise.all([
      store.pets.addOnce(rex, claimOn('t'), Date.now()),
      idsOf(store, 20),
    ]);
    const added = [...others, claimed.pet.id];
    expect(added.every((id) => id > first + 300n)).to.equal(true);
    expect(new Set(added).size).to.equal(21);
    expect((await store.pets.addOnce(rex, claimOn('t'), Date.now())).pet).to.deep.equal(
      claimed.pet,
    );
    expect(await collection('pets').countDocuments({ name: 'Another' })).to.equal(300);
  });

  throughProxy(
    'are not tried one by one when others took those of the block in hand',
    {},
    async ({ store, collection, proxy }) => {
      const [first = 0n] = await idsOf(store, 1);
      const taken = Array.from({ length: 300 }, (_, index) => another(first + 1n + BigInt(index)));
      await collection('pets').insertMany(taken);
      proxy.commands.length = 0;
      const [id = 0n] = await idsOf(store, 1);
      expect(id > first + 300n, `the new id ${id}`).to.equal(true);
      const inserts = proxy.commands.filter((command) => 'insert' in command);
      expect(inserts, 'inserts until one id was free').to.have.length(2);
    },
  );

  throughProxy(
    'stay those of a claim whose create was interrupted, unless another animal has taken them meanwhile',
    {},
    async ({ store: { pets }, collection, proxy }) => {
      const made = await pets.addOnce(rex, claimOn('t'), Date.now());
      // As if the process had ended between the two writes.
      await collection('pets').deleteMany({});
      expect(await pets.addOnce(rex, claimOn('t'), Date.now())).to.deep.equal({
        ...made,
        replayed: true,
      });
      expect(await pets.list({ limit: 5 })).to.deep.equal([made.pet]);
      // Or somebody had changed the animal.
      await collection('pets').updateOne({}, { $set: { status: 'sold' } });
      expect(await pets.addOnce(rex, claimOn('t'), Date.now())).to.deep.equal({
        ...made,
        replayed: true,
      });
      // And a restore had put another animal there.
      await collection('pets').deleteMany({});
      await collection('pets').insertOne(another(made.pet.id));
      // Of two retries, one gives the claim another id after the other has stored the animal.
      const [holding, stored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      proxy.onMessage = () => {
        if (proxy.commands.at(-1)?.['update'] !== 'claims') return;
        proxy.onMessage = () => undefined;
        holding.resolve();
        return stored.promise;
      };
      const late = pets.addOnce(rex, claimOn('t'), Date.now());
      await holding.promise;
      const replay = await pets.addOnce(rex, claimOn('t'), Date.now());
      stored.resolve();
      expect(await late).to.deep.equal(replay);
      expect(await collection('pets').countDocuments()).to.equal(2);
      expect(replay.replayed).to.equal(true);
      expect(replay.pet).to.deep.equal({ ...made.pet, id: replay.pet.id });
      expect(replay.pet.id > made.pet.id).to.equal(true);
      expect(await pets.findById(replay.pet.id)).to.deep.equal(replay.pet);
      expect(await collection('claims').countDocuments()).to.equal(1);
      expect(await pets.addOnce(rex, claimOn('t'), Date.now())).to.deep.equal(replay);
    },
  );

  onStore(
    'are never used again after all animals are gone, in a running process and in a new one',
    async ({ store, collection, open }) => {
      const before = await idsOf(store, 5);
      await collection('pets').deleteMany({});
      const later = [...(await idsOf(store, 2)), ...(await idsOf(await open(), 2))];
      // Nor when the counter is gone, too, and the running process takes its next block.
      for (const name of ['pets', 'counters']) await collection(name).deleteMany({});
      await store.transfer.reserveIds(1n);
      later.push(...(await idsOf(store, 2)));
      expect(later.filter((id) => before.some((earlier) => earlier >= id))).to.deep.equal([]);
    },
  );

  for (const [what, last] of [
    ['not a number', 'many'],
    ['at its end', 2n ** 63n - 1n],
  ] as const) {
    const title = `are refused with the reason when the counter is ${what}: it is not changed`;
    onStore(title, async ({ store: { pets, transfer }, collection }) => {
      await collection('counters').insertOne({ _id: 'pets', last });
      await unavailable(pets.add(rex));
      expect(await collection('counters').findOne()).to.have.property('last', last);
      if (last === 'many')
        expect(await unavailable(transfer.survey())).to.include("'pets' in counters");
    });
  }
});
