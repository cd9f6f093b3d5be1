import { assert } from '../assert.js';
import { PET_STATUSES } from '../../../src/domain/pet.js';
import type { UnsavedPet } from '../../../src/domain/pet.js';
import { INT64_EDGES, TRICKY_NAMES, samplePet, times } from '../samples.js';
import { sampleClaim } from './claiming.js';
import { listAll, type PetRepositoryCase, type PetRepositorySubject } from './subject.js';

/** Kept to the letter and to the digit, by all three ways to get an animal. */
const keepsExactly =
  (animal: UnsavedPet) =>
  async ({ pets }: PetRepositorySubject): Promise<void> => {
    const { pet } = await pets.add(animal);
    assert.deepEqual(pet, { id: pet.id, ...animal });
    assert.deepEqual(await pets.findById(pet.id), pet);
    assert.deepEqual(await listAll(pets), [pet]);
  };

export const addingCases: readonly PetRepositoryCase[] = [
  {
    name: 'gives ids and categoryIds as bigints, never as numbers or text',
    async run({ pets }) {
      const { pet: added } = await pets.add(samplePet(), { claim: sampleClaim() });
      const { pet: replayed } = await pets.add(samplePet(), { claim: sampleClaim() });
      const id: unknown = added.id; // whatever it is, it is told below
      const found = await pets.findById(BigInt(String(id)));
      const [listed] = await pets.list({ limit: 1 });
      const [filtered] = await pets.list({ limit: 1, status: added.status });
      for (const [way, pet] of Object.entries({ added, replayed, found, listed, filtered })) {
        const kinds = { id: typeof pet?.id, categoryId: typeof pet?.categoryId };
        assert.deepEqual(
          kinds,
          { id: 'bigint', categoryId: 'bigint' },
          `an animal that was ${way} has ${JSON.stringify(kinds)}`,
        );
      }
    },
  },
  {
    name: 'gives each animal a positive id, greater than every one before',
    async run({ pets }) {
      let greatest = 0n;
      for (const animal of times(20, () => samplePet())) {
        const { pet } = await pets.add(animal);
        assert.equal(typeof pet.id, 'bigint');
        assert.ok(pet.id > greatest, `${pet.id} came after ${greatest}`);
        greatest = pet.id;
      }
    },
  },
  {
    name: 'gives twenty simultaneous writers twenty ids, each with its own animal',
    async run({ pets }) {
      const added = await Promise.all(
        times(20, (number) => pets.add(samplePet({ name: `Pet ${number}`, categoryId: BigInt(number) }))),
      );
      assert.equal(new Set(added.map(({ pet }) => pet.id)).size, 20);
      for (const [index, { pet, replayed }] of added.entries()) {
        assert.equal(pet.name, `Pet ${index + 1}`);
        assert.equal(replayed, false);
        assert.deepEqual(await pets.findById(pet.id), pet);
      }
      const next = await pets.add(samplePet());
      assert.ok(added.every(({ pet }) => pet.id < next.pet.id));
    },
  },
  {
    name: 'keeps two equal animals as two when there is no claim',
    async run({ pets }) {
      const first = await pets.add(samplePet());
      const second = await pets.add(samplePet());
      assert.equal(first.replayed, false);
      assert.equal(second.replayed, false);
      assert.deepEqual(await listAll(pets), [first.pet, second.pet]);
    },
  },
  {
    name: 'shows an animal to every read that begins after the answer',
    async run({ pets }) {
      for (const status of PET_STATUSES) {
        const { pet } = await pets.add(samplePet({ status }));
        const [found, listed, filtered] = await Promise.all([
          pets.findById(pet.id),
          pets.list({ after: pet.id - 1n, limit: 1 }),
          pets.list({ limit: 1, status }),
        ]);
        assert.deepEqual(found, pet);
        assert.deepEqual(listed, [pet]);
        assert.deepEqual(filtered, [pet]);
      }
    },
  },
  ...INT64_EDGES.map((categoryId) => ({
    name: `keeps a categoryId of ${categoryId} to the digit`,
    run: keepsExactly(samplePet({ categoryId })),
  })),
  ...Object.entries(TRICKY_NAMES).map(([what, name]) => ({
    name: `keeps a name with ${what} exactly`,
    run: keepsExactly(samplePet({ name })),
  })),
  ...PET_STATUSES.map((status) => ({
    name: `keeps the status ${status}`,
    run: keepsExactly(samplePet({ status })),
  })),
];
