import { expect } from 'chai';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import { times } from '../../contract/samples.js';
import { addOnce, describeStore, rex, unavailable } from './mongo-store-tests.js';

/** The ids of new animals that are added at once. */
async function newIds({ pets }: CompleteStore, count: number): Promise<bigint[]> {
  const added = await Promise.all(times(count, () => pets.add(rex)));
  return added.map(({ id }) => id);
}

async function newId(store: CompleteStore): Promise<bigint> {
  const { id } = await store.pets.add(rex);
  return id;
}

const another = (_id: bigint) => ({
  _id,
  name: 'Another',
  categoryId: 1n,
  status: 'sold',
});

describeStore('The ids of a MongoDB store', ({ onStore, throughProxy }) => {
  onStore(
    'continue above those in use when the counter was restored to an older state',
    async ({ store, collection, open }) => {
      await newIds(store, 5);
      await collection('pets').insertOne(another(5000n));
      await collection('counters').updateOne({}, { $set: { last: 1n } });

      const id = await newId(await open());

      expect(id).to.be.above(5000n);
    },
  );

  onStore(
    'become visible behind greater ones, so that a poll after the greatest misses them and a list of all does not',
    async ({ store, open }) => {
      const other = await open();
      const first = await newId(store);
      const greatest = await newId(other);

      const late = await newId(store);

      expect(late, 'the next id of the first process').to.equal(first + 1n);
      expect(greatest, 'the id of the other process').to.be.above(late);
      const polled = await other.pets.list({ after: greatest, limit: 5 });
      expect(polled).to.deep.equal([]);
      const all = await other.pets.list({ limit: 5 });
      expect(all.map(({ id }) => id)).to.deep.equal([first, late, greatest]);
    },
  );

  throughProxy(
    'skip those that others took from the block in hand, without trying them one by one',
    {},
    async ({ store, collection, proxy }) => {
      const first = await newId(store);
      const others = times(300, (number) => another(first + BigInt(number)));
      await collection('pets').insertMany(others);
      proxy.commands.length = 0;

      const [claimed, plain] = await Promise.all([addOnce(store), newIds(store, 20)]);

      const ids = new Set([...plain, claimed.pet.id]);
      expect(ids, 'different ids').to.have.property('size', 21);
      for (const id of ids) expect(id).to.be.above(first + 300n);
      const inserts = proxy.commands.filter((command) => command['insert'] === 'pets');
      expect(inserts.length, 'inserts of 21 animals').to.be.at.most(2 * 21);
      const replay = await addOnce(store);
      expect(replay.pet).to.deep.equal(claimed.pet);
      const left = await collection('pets').countDocuments({ name: 'Another' });
      expect(left, 'animals of others').to.equal(300);
    },
  );

  onStore(
    'are never used again after all animals were deleted, in a running process and in a new one',
    async ({ store, collection, open }) => {
      const before = await newIds(store, 5);
      await collection('pets').deleteMany({});

      const later = await newIds(store, 2);
      later.push(...(await newIds(await open(), 2)));
      // Nor when the counter was deleted, too, and the running process takes its next block.
      await collection('pets').deleteMany({});
      await collection('counters').deleteMany({});
      await store.transfer.reserveIds(1n);
      later.push(...(await newIds(store, 2)));

      const greatest = before.at(-1) ?? 0n;
      for (const id of later) expect(id).to.be.above(greatest);
    },
  );

  for (const [what, last] of [
    ['not a number', 'many'],
    ['at its end', 2n ** 63n - 1n],
  ] as const) {
    onStore(
      `are refused with the reason when the counter is ${what}: it is not changed`,
      async ({ store, collection }) => {
        await collection('counters').insertOne({ _id: 'pets', last });

        await unavailable(store.pets.add(rex));

        const counter = await collection('counters').findOne();
        expect(counter).to.have.property('last', last);
        if (last !== 'many') return;
        const reason = await unavailable(store.transfer.survey());
        expect(reason).to.include("'pets' in counters");
      },
    );
  }
});
