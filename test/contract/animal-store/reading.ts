import type { PetQuery } from '../../../src/application/animal-store.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import assert from 'node:assert/strict';
import { checkRejectsWhenAborted, checkRejectsWithCode } from '../rejection.js';
import { FILTERS } from '../samples.js';
import {
  checkNames,
  createMany,
  numberIfSafe,
  valuesOf,
  type AnimalStoreCases,
} from './subject.js';

const BAD_PARAMETERS: Readonly<Record<keyof PetQuery, readonly unknown[]>> = {
  limit: [0, -1, 101, 1.5, NaN, Infinity, 2 ** 32 + 1, '5', 5n, null, [5]],
  status: ['gone', '', 'Sold', ' sold', 'available,sold', 0, null, ['sold']],
  // Bigints only. The client must refuse the rest itself: in a URL, 1 and 1n are the same.
  after: [INT64_MIN - 1n, INT64_MAX + 1n, 1, '1', '', null, {}],
};

/** Ids that no animal has, in int64 and outside. */
const ABSENT_IDS = [
  0,
  -0,
  -1n,
  2n ** 53n + 1n,
  INT64_MAX,
  INT64_MIN,
  INT64_MAX + 1n,
  2n ** 64n + 1n,
];

const FIDO = { name: 'Fido', categoryId: 1n };
const idempotencyKey = { scope: 'a-scope', key: 'a-key' };

export function readingCases(cases: AnimalStoreCases): void {
  const test = cases('animalStore');

  test('lists 1 to 100 animals in ascending order of id, by default twenty of every status', async ({
    animalStore,
  }) => {
    assert.deepEqual(await animalStore.listPets(), { pets: [] });
    const created = await createMany(animalStore, 101);
    for (const limit of [1, 99, 100, 20, undefined]) {
      const pets = created.slice(0, limit ?? 20);
      const page = await animalStore.listPets({ limit, status: undefined, after: undefined });
      assert.deepEqual(page, { pets, next: pets.at(-1)?.id }, `limit ${limit}`);
      for (const pet of page.pets) assert.ok(Object.isFrozen(pet), 'an animal is not frozen');
      Reflect.set(page.pets, 'length', 0); // must not change the store
    }
    assert.equal((await animalStore.listPets()).pets.length, 20);
  });

  test('refuses every invalid parameter of a list, and names it', async ({ animalStore }) => {
    for (const { field, given, about } of valuesOf(BAD_PARAMETERS)) {
      const refused = animalStore.listPets(given);
      checkNames(await checkRejectsWithCode(refused, 'invalid_parameter', about), field);
    }
  });

  test('fills every page after an id, and names the next page of all but the last', async ({
    animalStore,
  }) => {
    const created = await createMany(animalStore, 9);
    for (const status of FILTERS)
      for (const after of [INT64_MIN, -1n, 0n, ...created.map(({ id }) => id), INT64_MAX]) {
        const pets = created
          .filter((pet) => status === undefined || pet.status === status)
          .filter(({ id }) => id > after);
        for (const limit of [1, 2, 3, 8, 9, 10]) {
          const page = await animalStore.listPets({ status, after, limit });
          const next = pets.length > limit ? { next: pets[limit - 1]?.id } : {};
          const about = `status ${status}, after ${after}, limit ${limit}`;
          assert.deepEqual(page, { pets: pets.slice(0, limit), ...next }, about);
        }
      }
  });

  test('gets each animal by its id, a bigint or a safe integer, and no other', async ({
    animalStore,
  }) => {
    for (const pet of await createMany(animalStore, 12))
      for (const id of [pet.id, numberIfSafe(pet.id)])
        assert.deepEqual(await animalStore.getPet(id), pet);
    for (const id of ABSENT_IDS)
      await checkRejectsWithCode(animalStore.getPet(id), 'pet_not_found', `${typeof id} ${id}`);
    for (const id of [1.5, NaN, Infinity, 2 ** 53, '1', null, undefined])
      await checkRejectsWithCode(animalStore.getPet(id as number), 'invalid_parameter', id);
  });

  test('rejects aborted calls with the reason, even for invalid arguments, and stores nothing', async ({
    animalStore,
  }) => {
    const { pet } = await animalStore.createPet(FIDO);
    assert.deepEqual(await animalStore.getPet(pet.id), pet);
    await checkRejectsWhenAborted((options) => [
      animalStore.listPets({}, options),
      animalStore.listPets({ limit: 0 }, options),
      animalStore.createPet(FIDO, options),
      animalStore.createPet(FIDO, { idempotencyKey, ...options }),
      animalStore.createPet({ ...FIDO, name: '' }, options),
      animalStore.getPet(pet.id, options),
      animalStore.getPet(1.5, options),
    ]);
    assert.deepEqual(await animalStore.listPets(), { pets: [pet] });
    const other = await animalStore.createPet({ name: 'Max', categoryId: 3n }, { idempotencyKey });
    assert.ok(!other.replayed, 'the aborted call has used up the idempotency key');
  });
}
