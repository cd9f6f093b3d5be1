import { assert } from '../assert.js';
import type { AnimalStore } from '../../../src/application/animal-store.js';
import type { Call } from '../../../src/application/animal-store.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import { rejectsWhenAborted, rejectsWithCode } from '../rejection.js';
import { createAll, newPets, untyped, type AnimalStoreCase } from './subject.js';

const OPERATIONS: Readonly<Record<string, (store: AnimalStore, call: Call) => Promise<unknown>>> = {
  listPets: (store, call) => store.listPets({}, call),
  createPet: (store, call) => store.createPet({ name: 'Fido', categoryId: 1n }, call),
  'createPet with a request token': (store, call) =>
    store.createPet(
      { name: 'Fido', categoryId: 1n },
      { request: { scope: 'a-scope', token: 'a-token' }, ...call },
    ),
  getPet: (store, call) => store.getPet(1n, call),
  'getPet with an id that no animal can have': (store, call) => store.getPet(INT64_MAX + 1n, call),
};

export const gettingCases: readonly AnimalStoreCase[] = [
  {
    name: 'gets each animal by its id, as a bigint or as a number',
    async run({ store }) {
      for (const pet of await createAll(store, newPets(12))) {
        assert.deepEqual(await store.getPet(pet.id), pet);
        assert.deepEqual(await store.getPet(Number(pet.id)), pet);
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
    async run({ store }) {
      await store.createPet({ name: 'Fido', categoryId: 1n });
      await rejectsWithCode(store.getPet(id), 'pet_not_found');
    },
  })),
  ...[1.5, NaN, Infinity, 2 ** 53, '1', null, undefined].map((id): AnimalStoreCase => ({
    name: `refuses ${typeof id} [${id}] as an id, which is neither a bigint nor a safe integer`,
    async run({ store }) {
      await store.createPet({ name: 'Fido', categoryId: 1n });
      await rejectsWithCode(untyped(store).getPet(id), 'invalid_parameter');
    },
  })),
  ...Object.entries(OPERATIONS).map(([operation, call]): AnimalStoreCase => ({
    name: `rejects with the reason of a signal that is aborted already, and stores nothing: ${operation}`,
    async run({ store }) {
      await rejectsWhenAborted((aborted) => call(store, aborted));
      assert.deepEqual(await store.listPets(), { pets: [] });
      const request = { scope: 'a-scope', token: 'a-token' };
      const { replayed } = await store.createPet({ name: 'Rex', categoryId: 2n }, { request });
      assert.equal(replayed, false);
    },
  })),
];
