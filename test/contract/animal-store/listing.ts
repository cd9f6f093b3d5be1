import { assert } from '../assert.js';
import { PET_STATUSES } from '../../../src/domain/pet.js';
import { rejectsWithCode } from '../rejection.js';
import { times } from '../samples.js';
import { createAll, newPets, pagesOf, untyped, type AnimalStoreCase } from './subject.js';

const BAD_LIMITS: readonly unknown[] = [0, -1, 101, 1.5, NaN, Infinity, 2 ** 32 + 1, '5', 5n, null, [5]];
const BAD_STATUSES: readonly unknown[] = ['gone', '', 'Sold', ' sold', 'available,sold', 0, null, ['sold']];

export const listingCases: readonly AnimalStoreCase[] = [
  {
    name: 'lists nothing, and no next page, when there is nothing',
    async run({ animalStore }) {
      assert.deepEqual(await animalStore.listPets(), { pets: [] });
      assert.deepEqual(await animalStore.listPets({ limit: 1, status: 'sold' }, {}), { pets: [] });
    },
  },
  {
    name: 'lists twenty animals, ascending by id and of every status, when nothing is asked for',
    async run({ animalStore }) {
      const created = await createAll(animalStore, newPets(21));
      const page = await animalStore.listPets();
      assert.deepEqual(page.pets, created.slice(0, 20));
      assert.equal(typeof page.next, 'string');
      const asUndefined = { limit: undefined, status: undefined, cursor: undefined };
      assert.deepEqual(await animalStore.listPets(asUndefined), page);
    },
  },
  {
    name: 'lists 1 to 100 animals at a time',
    async run({ animalStore }) {
      const created = await createAll(animalStore, newPets(101));
      for (const limit of [1, 2, 99, 100]) {
        const page = await animalStore.listPets({ limit });
        assert.deepEqual(page.pets, created.slice(0, limit));
        assert.ok(page.next);
      }
    },
  },
  ...BAD_LIMITS.map((limit): AnimalStoreCase => ({
    name: `refuses ${typeof limit} ${JSON.stringify(String(limit))} as a limit, naming the parameter`,
    async run({ animalStore }) {
      const error = await rejectsWithCode(untyped(animalStore).listPets({ limit }), 'invalid_parameter');
      assert.match(error.message, /\blimit\b/);
    },
  })),
  ...BAD_STATUSES.map((status): AnimalStoreCase => ({
    name: `refuses ${typeof status} ${JSON.stringify(String(status))} as a status to list, naming the parameter`,
    async run({ animalStore }) {
      const error = await rejectsWithCode(untyped(animalStore).listPets({ status }), 'invalid_parameter');
      assert.match(error.message, /\bstatus\b/);
    },
  })),
  {
    name: 'gives pages that can be changed without changing what is kept',
    async run({ animalStore }) {
      const created = await createAll(animalStore, newPets(2));
      const page = await animalStore.listPets();
      for (const pet of page.pets) {
        assert.ok(Object.isFrozen(pet));
        Reflect.set(pet, 'name', 'Rex');
      }
      Reflect.set(page.pets, 'length', 0);
      assert.deepEqual(await animalStore.listPets(), { pets: created });
    },
  },
  ...[undefined, ...PET_STATUSES].flatMap((status): AnimalStoreCase[] => {
    const those = status === undefined ? 'all' : `those ${status}`;
    return [
      {
        name: `fills every page but the last, which has no next: ${those}`,
        async run({ animalStore }) {
          const created = await createAll(animalStore, newPets(30));
          const expected = created.filter((pet) => status === undefined || pet.status === status);
          for (const limit of [1, 3, 4, expected.length - 1, expected.length, expected.length + 1]) {
            const count = Math.ceil(expected.length / limit);
            assert.deepEqual(
              await pagesOf(animalStore, { limit, status }),
              times(count, (number) => expected.slice((number - 1) * limit, number * limit)),
              `in pages of ${limit}`,
            );
          }
        },
      },
      {
        name: `meets each animal exactly once, page by page, while others are created: ${those}`,
        async run({ animalStore }) {
          const before = await createAll(animalStore, newPets(60));
          const later = [...newPets(30)];
          const pages = await pagesOf(animalStore, { limit: 7, status }, () =>
            createAll(animalStore, later.splice(0, 3)),
          );
          const met = pages.flat();
          assert.ok(pages.slice(0, -1).every((page) => page.length === 7));
          assert.ok(met.every((pet) => status === undefined || pet.status === status));
          const existedBefore = new Set(before.map(({ id }) => id));
          assert.deepEqual(
            met.filter(({ id }) => existedBefore.has(id)),
            before.filter((pet) => status === undefined || pet.status === status),
          );
          assert.equal(new Set(met.map(({ id }) => id)).size, met.length);
        },
      },
    ];
  }),
];
