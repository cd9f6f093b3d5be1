import { assert } from '../assert.js';
import type { AnimalStore } from '../../../src/application/animal-store.js';
import type { Call } from '../../../src/application/animal-store.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import { rejectsWhenAborted, rejectsWithCode } from '../rejection.js';
import { createAll, newPets, untyped, type AnimalStoreCase } from './subject.js';

const OPERATIONS: Readonly<Record<string, (animalStore: AnimalStore, call: Call) => Promise<unknown>>> = {
  listPets: (animalStore, call) => animalStore.listPets({}, call),
  createPet: (animalStore, call) => animalStore.createPet({ name: 'Fido', categoryId: 1n }, call),
  'createPet with an idempotency key': (animalStore, call) =>
    animalStore.createPet(
      { name: 'Fido', categoryId: 1n },
      { idempotencyKey: { scope: 'a-scope', key: 'a-key' }, ...call },
    ),
  getPet: (animalStore, call) => animalStore.getPet(1n, call),
  'getPet with an id that no animal can have': (animalStore, call) =>
    animalStore.getPet(INT64_MAX + 1n, call),
};

export const gettingCases: readonly AnimalStoreCase[] = [
  {
    name: 'gets each animal by its id, as a bigint or as a number',
    async run({ animalStore }) {
      for (const pet of await createAll(animalStore, newPets(12))) {
        assert.deepEqual(await animalStore.getPet(pet.id), pet);
        assert.deepEqual(await animalStore.getPet(Number(pet.id)), pet);
      }
    },
  },
  ...[
    0n,
    -1n,
    2n ** 53n + 1n,
    INT64_MAX,
    INT64_MIN,
    INT64_MAX + 1n,
    INT64_MIN - 1n,
    2n ** 64n + 1n,
    0,
    -0,
  ].map((id): AnimalStoreCase => ({
    name: `finds no animal with the ${typeof id} ${Object.is(id, -0) ? '-0' : id}: pet_not_found`,
    async run({ animalStore }) {
      await animalStore.createPet({ name: 'Fido', categoryId: 1n });
      await rejectsWithCode(animalStore.getPet(id), 'pet_not_found');
    },
  })),
  ...[1.5, NaN, Infinity, 2 ** 53, '1', null, undefined].map((id): AnimalStoreCase => ({
    name: `refuses ${typeof id} [${id}] as an id, which is neither a bigint nor a safe integer`,
    async run({ animalStore }) {
      await animalStore.createPet({ name: 'Fido', categoryId: 1n });
      await rejectsWithCode(untyped(animalStore).getPet(id), 'invalid_parameter');
    },
  })),
  ...Object.entries(OPERATIONS).map(([operation, call]): AnimalStoreCase => ({
    name: `rejects with the reason of a signal that is aborted already, and stores nothing: ${operation}`,
    async run({ animalStore }) {
      await rejectsWhenAborted((aborted) => call(animalStore, aborted));
      assert.deepEqual(await animalStore.listPets(), { pets: [] });
      const idempotencyKey = { scope: 'a-scope', key: 'a-key' };
      const { replayed } = await animalStore.createPet({ name: 'Rex', categoryId: 2n }, { idempotencyKey });
      assert.equal(replayed, false);
    },
  })),
];
