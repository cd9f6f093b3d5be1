import { assert } from '../assert.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import { PET_STATUSES } from '../../../src/domain/pet.js';
import { samplePet, times } from '../samples.js';
import { addAll, byId, listAll, type PetRepositoryCase } from './subject.js';

/** Names and categories fall while ids rise, and twelve ids have one digit or two: no other order looks right. */
const TWELVE = times(12, (number) =>
  samplePet({
    name: `Pet ${90 - number}`,
    categoryId: BigInt(90 - number),
    status: PET_STATUSES[number % 3] ?? 'available',
  }),
);

export const readingCases: readonly PetRepositoryCase[] = [
  ...[0n, -1n, INT64_MAX, INT64_MIN].map((id): PetRepositoryCase => ({
    name: `finds no animal with the id ${id}, and says so without an error`,
    async run({ pets }) {
      assert.equal(await pets.findById(id), undefined);
      await pets.add(samplePet());
      assert.equal(await pets.findById(id), undefined);
    },
  })),
  {
    name: 'finds each animal by its own id, and none by an id that was not given',
    async run({ pets }) {
      const kept = await addAll(pets, TWELVE);
      for (const pet of kept) assert.deepEqual(await pets.findById(pet.id), pet);
      const greatest = kept.at(-1)?.id ?? 0n;
      assert.equal(await pets.findById(greatest + 1n), undefined);
      // An id that is congruent to a kept one by 2^32 or 2^53 shows where digits get lost.
      assert.equal(await pets.findById(greatest + 2n ** 32n), undefined);
      assert.equal(await pets.findById(greatest + 2n ** 53n), undefined);
    },
  },
  {
    name: 'lists nothing when there is nothing',
    async run({ pets }) {
      assert.deepEqual(await listAll(pets), []);
      assert.deepEqual(await pets.list({ after: 5n, limit: 20, status: 'sold' }), []);
    },
  },
  {
    name: 'lists in ascending order of the ids',
    async run({ pets }) {
      const kept = await addAll(pets, TWELVE);
      const listed = await listAll(pets);
      assert.deepEqual(listed, kept);
      assert.deepEqual(listed, [...listed].sort(byId));
    },
  },
  ...[1, 2, 11, 12, 13].map((limit): PetRepositoryCase => ({
    name: `lists the first ${Math.min(limit, 12)} of twelve animals for a limit of ${limit}`,
    async run({ pets }) {
      const kept = await addAll(pets, TWELVE);
      assert.deepEqual(await pets.list({ limit }), kept.slice(0, limit));
    },
  })),
  {
    name: 'lists 101 animals for a limit of 101',
    async run({ pets }) {
      const kept = await addAll(
        pets,
        times(103, () => samplePet()),
      );
      assert.deepEqual(await pets.list({ limit: 101 }), kept.slice(0, 101));
    },
  },
  {
    name: 'begins after the id given, whether an animal has it or not',
    async run({ pets }) {
      const kept = await addAll(pets, TWELVE);
      for (const [index, { id }] of kept.entries()) {
        assert.deepEqual(await pets.list({ after: id, limit: 20 }), kept.slice(index + 1));
      }
      const greatest = kept.at(-1)?.id ?? 0n;
      for (const after of [greatest + 1n, greatest + 2n ** 32n, greatest + 2n ** 53n, INT64_MAX]) {
        assert.deepEqual(await pets.list({ after, limit: 20 }), [], `after ${after}`);
      }
      for (const after of [undefined, 0n, -1n, -(2n ** 53n) - 1n, INT64_MIN]) {
        assert.deepEqual(await pets.list({ after, limit: 20 }), kept, `after ${after}`);
      }
    },
  },
  ...PET_STATUSES.map((status): PetRepositoryCase => ({
    name: `lists only animals that are ${status} when asked for them, and as many as the limit says`,
    async run({ pets }) {
      const kept = await addAll(pets, TWELVE);
      const matching = kept.filter((pet) => pet.status === status);
      assert.equal(matching.length, 4);
      assert.deepEqual(await pets.list({ limit: 20, status }), matching);
      assert.deepEqual(await pets.list({ limit: 3, status }), matching.slice(0, 3));
      assert.deepEqual(await pets.list({ after: matching[1]?.id, limit: 20, status }), matching.slice(2));
      assert.deepEqual(await pets.list({ after: matching[0]?.id, limit: 1, status }), matching.slice(1, 2));
    },
  })),
  {
    name: 'lists nothing of a status that no animal has',
    async run({ pets }) {
      await addAll(
        pets,
        times(3, () => samplePet({ status: 'sold' })),
      );
      assert.deepEqual(await pets.list({ limit: 20, status: 'pending' }), []);
    },
  },
];
