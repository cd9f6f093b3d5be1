import { assert } from '../assert.js';
import { samplePet } from '../samples.js';
import { sampleClaim } from './claiming.js';
import { listAll, type PetRepositoryCase } from './subject.js';

export const copiesCases: readonly PetRepositoryCase[] = [
  {
    name: 'gives frozen animals',
    async run({ pets }) {
      const { pet } = await pets.add(samplePet(), { claim: sampleClaim() });
      const replay = await pets.add(samplePet(), { claim: sampleClaim() });
      const given = [pet, replay.pet, await pets.findById(pet.id), ...(await listAll(pets))];
      assert.equal(given.length, 4);
      assert.ok(given.every((animal) => Object.isFrozen(animal)));
    },
  },
  {
    name: 'keeps its own copy of an animal: changing the one given changes nothing, even before the answer',
    async run({ pets }) {
      const given = { name: 'Fido', categoryId: 1n, status: 'available' as const };
      const adding = pets.add(given);
      Object.assign(given, { name: 'Rex', categoryId: 2n, status: 'sold' });
      const { pet } = await adding;
      Object.assign(given, { name: 'Max' });
      assert.deepEqual(pet, { id: pet.id, ...samplePet() });
      assert.deepEqual(await pets.findById(pet.id), pet);
      assert.deepEqual(await listAll(pets), [pet]);
    },
  },
  {
    name: 'keeps its own copy of a claim: changing its dates changes nothing, even before the answer',
    async run({ pets }) {
      const claim = sampleClaim();
      const adding = pets.add(samplePet(), { claim });
      claim.now.setTime(0);
      claim.keepUntil.setTime(0);
      const { pet } = await adding;
      const again = await pets.add(samplePet(), { claim: sampleClaim() });
      assert.deepEqual(again, { pet, replayed: true });
    },
  },
  {
    name: 'gives results that can be changed without changing what is kept',
    async run({ pets }) {
      const claim = sampleClaim();
      const added = await pets.add(samplePet(), { claim });
      const expected = { ...added.pet };
      const listed = await listAll(pets);
      const found = await pets.findById(added.pet.id);
      for (const pet of [added.pet, found, ...listed]) {
        assert.ok(pet);
        Reflect.set(pet, 'name', 'Rex');
        Reflect.set(pet, 'id', 99n);
      }
      Reflect.set(added, 'replayed', 'changed');
      Reflect.set(added, 'pet', samplePet({ name: 'Rex' }));
      Reflect.set(listed, 'length', 0);

      assert.deepEqual(await pets.findById(expected.id), expected);
      assert.deepEqual(await listAll(pets), [expected]);
      assert.deepEqual(await pets.add(samplePet(), { claim }), { pet: expected, replayed: true });
    },
  },
];
