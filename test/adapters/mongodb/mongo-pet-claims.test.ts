import { expect } from 'chai';
import type { CreatedPet } from '../../../src/application/animal-store.js';
import { addOnce, type Bench, describeStore, expectListed } from './mongo-store-tests.js';

/** Adds an animal with a claim, and then removes its document by hand, as if the process had ended before. */
async function addClaimAlone({ store, collection }: Bench): Promise<CreatedPet> {
  const made = await addOnce(store);
  await collection('pets').deleteMany({});
  return made;
}

describeStore('A claim in MongoDB', ({ onStore, throughProxy }) => {
  onStore(
    'has its animal stored by a retry, under its id, if the process ended before that',
    async (bench) => {
      const { pet } = await addClaimAlone(bench);

      const replay = await addOnce(bench.store);

      expect(replay).to.deep.equal({ pet, replayed: true });
      await expectListed(bench.store.pets, [pet]);
    },
  );

  throughProxy(
    'gets one other id by two retries at once, if another animal was restored under its id before its own was stored',
    {},
    async (bench) => {
      const { store, collection, proxy } = bench;
      const { pet } = await addClaimAlone(bench);
      const another = {
        _id: pet.id,
        name: 'Another',
        categoryId: 1n,
        status: 'sold',
      };
      await collection('pets').insertOne(another);
      // One retry gives the claim another id after the other one has stored the animal.
      const isHeld = Promise.withResolvers<void>();
      const isStored = Promise.withResolvers<void>();
      proxy.onMessage = () => {
        if (proxy.commands.at(-1)?.['update'] !== 'claims') return;
        proxy.onMessage = () => undefined;
        isHeld.resolve();
        return isStored.promise;
      };

      const retrying = addOnce(store);
      await isHeld.promise;
      const replay = await addOnce(store);
      isStored.resolve();
      const late = await retrying;

      expect(late, 'the retry that was held').to.deep.equal(replay);
      const { id } = replay.pet;
      expect(id, 'the new id').to.be.above(pet.id);
      expect(replay.pet).to.deep.equal({ ...pet, id });
      expect(replay.replayed).to.equal(true);
      const stored = await store.pets.findById(id);
      expect(stored).to.deep.equal(replay.pet);
      const counts = {
        pets: await collection('pets').countDocuments(),
        claims: await collection('claims').countDocuments(),
      };
      expect(counts).to.deep.equal({ pets: 2, claims: 1 });
      const again = await addOnce(store);
      expect(again, 'a retry afterwards').to.deep.equal(replay);
    },
  );
});
