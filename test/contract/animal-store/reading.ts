import type { AnimalStore, Call } from '../../../src/application/animal-store.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import { PET_STATUSES, type PetStatus } from '../../../src/domain/pet-status.js';
import { assert } from '../assert.js';
import { promise } from '../contract.js';
import { rejectsWhenAborted, rejectsWithCode } from '../rejection.js';
import { times } from '../samples.js';
import { createAll, newPets, pagesOf, untyped, type AnimalStoreCase } from './subject.js';

const FILTERS = [undefined, ...PET_STATUSES];

const those = (status: PetStatus | undefined): string =>
  status === undefined ? 'of every status' : `with the status ${status}`;

const BAD_PARAMETERS: Readonly<Record<'limit' | 'status', readonly unknown[]>> = {
  limit: [0, -1, 101, 1.5, NaN, Infinity, 2 ** 32 + 1, '5', 5n, null, [5]],
  status: ['gone', '', 'Sold', ' sold', 'available,sold', 0, null, ['sold']],
};

const listing: readonly AnimalStoreCase[] = [
  promise('lists nothing, without a next page, when the store is empty', async ({ animalStore }) => {
    assert.deepEqual(await animalStore.listPets(), { pets: [] });
    assert.deepEqual(await animalStore.listPets({ limit: 1, status: 'sold' }, {}), { pets: [] });
  }),
  promise(
    'lists twenty animals of every status in ascending order of id by default',
    async ({ animalStore }) => {
      const created = await createAll(animalStore, newPets(21));
      const page = await animalStore.listPets();
      assert.deepEqual(page.pets, created.slice(0, 20));
      assert.equal(typeof page.next, 'bigint');
      const undefinedOptions = { limit: undefined, status: undefined, after: undefined };
      assert.deepEqual(await animalStore.listPets(undefinedOptions), page);
    },
  ),
  promise('lists 1 to 100 animals at a time', async ({ animalStore }) => {
    const created = await createAll(animalStore, newPets(101));
    for (const limit of [1, 2, 99, 100]) {
      const page = await animalStore.listPets({ limit });
      assert.deepEqual(page.pets, created.slice(0, limit));
      assert.ok(page.next);
    }
  }),
  ...Object.entries(BAD_PARAMETERS).flatMap(([parameter, values]) =>
    values.map((value): AnimalStoreCase =>
      promise(
        `refuses ${typeof value} ${JSON.stringify(String(value))} as ${parameter}, and names it`,
        async ({ animalStore }) => {
          const refused = untyped(animalStore).listPets({ [parameter]: value });
          const error = await rejectsWithCode(refused, 'invalid_parameter');
          assert.match(error.message, new RegExp(`\\b${parameter}\\b`));
        },
      ),
    ),
  ),
  promise('returns pages that can be changed without changing the store', async ({ animalStore }) => {
    const created = await createAll(animalStore, newPets(2));
    const page = await animalStore.listPets();
    for (const pet of page.pets) {
      assert.ok(Object.isFrozen(pet));
      Reflect.set(pet, 'name', 'Rex');
    }
    Reflect.set(page.pets, 'length', 0);
    assert.deepEqual(await animalStore.listPets(), { pets: created });
  }),
  ...FILTERS.map((status): AnimalStoreCase =>
    promise(`fills every page but the last, which has no next: ${those(status)}`, async ({ animalStore }) => {
      const created = await createAll(animalStore, newPets(30));
      const expected = created.filter((pet) => status === undefined || pet.status === status);
      for (const limit of [1, 3, 4, expected.length - 1, expected.length, expected.length + 1]) {
        const pages = times(Math.ceil(expected.length / limit), (number) =>
          expected.slice((number - 1) * limit, number * limit),
        );
        assert.deepEqual(await pagesOf(animalStore, { limit, status }), pages, `limit ${limit}`);
      }
    }),
  ),
];

/** What `after` must not be. Only bigints over HTTP, whose client sends nothing else. */
const ODD_IDS: readonly unknown[] = [INT64_MIN - 1n, INT64_MAX + 1n, 1, '1', '', null, {}];

const paging: readonly AnimalStoreCase[] = [
  promise('continues with another limit than that of the page before', async ({ animalStore }) => {
    const created = await createAll(animalStore, newPets(12));
    const first = await animalStore.listPets({ limit: 2 });
    const second = await animalStore.listPets({ limit: 9, after: first.next });
    assert.deepEqual(second.pets, created.slice(2, 11));
    const third = await animalStore.listPets({ after: second.next });
    assert.deepEqual(third, { pets: created.slice(11) });
  }),
  promise(
    'begins a page behind any id, also of an animal that the filter leaves out',
    async ({ animalStore }) => {
      const created = await createAll(animalStore, newPets(9));
      for (const status of FILTERS) {
        const listed = created.filter((pet) => status === undefined || pet.status === status);
        for (const after of [INT64_MIN, -1n, 0n, ...created.map(({ id }) => id), INT64_MAX]) {
          const { pets, next } = await animalStore.listPets({ status, after });
          assert.deepEqual(
            pets,
            listed.filter(({ id }) => id > after),
          );
          assert.equal(next, undefined);
        }
      }
    },
  ),
  promise('names the last id of a page as where the next one begins', async ({ animalStore }) => {
    const created = await createAll(animalStore, newPets(3));
    const { next } = await animalStore.listPets({ limit: 2 });
    assert.equal(next, created[1]?.id);
  }),
  promise(
    'returns the same page after the same id, with animals that were added since',
    async ({ animalStore }) => {
      const created = await createAll(animalStore, newPets(3));
      const after = created[0]?.id;
      assert.deepEqual(await animalStore.listPets({ after }), { pets: created.slice(1) });
      const { pet } = await animalStore.createPet({ name: 'Fido', categoryId: 1n });
      assert.deepEqual(await animalStore.listPets({ after }), { pets: [...created.slice(1), pet] });
    },
  ),
  ...ODD_IDS.map((after): AnimalStoreCase =>
    promise(
      `refuses ${typeof after} ${String(after) || 'of no length'} as after`,
      async ({ animalStore }) => {
        await rejectsWithCode(animalStore.listPets({ after: after as bigint }), 'invalid_parameter');
      },
    ),
  ),
];

const ABSENT_IDS = [
  [0, -0, 0n, -1n, 2n ** 53n + 1n, INT64_MAX, INT64_MIN],
  [INT64_MAX + 1n, INT64_MIN - 1n, 2n ** 64n + 1n],
].flat();

const idempotencyKey = { scope: 'a-scope', key: 'a-key' };

type Operation = (animalStore: AnimalStore, id: bigint, call?: Call) => Promise<unknown>;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  listPets: (animalStore, _id, call) => animalStore.listPets({}, call),
  createPet: (animalStore, _id, call) => animalStore.createPet({ name: 'Fido', categoryId: 1n }, call),
  'createPet with an idempotency key': (animalStore, _id, call) =>
    animalStore.createPet({ name: 'Fido', categoryId: 1n }, { idempotencyKey, ...call }),
  getPet: (animalStore, id, call) => animalStore.getPet(id, call),
  'getPet with an id outside int64': (animalStore, _id, call) => animalStore.getPet(INT64_MAX + 1n, call),
};

const getting: readonly AnimalStoreCase[] = [
  promise('gets each animal by its id, as a bigint or as a number', async ({ animalStore }) => {
    for (const pet of await createAll(animalStore, newPets(12))) {
      assert.deepEqual(await animalStore.getPet(pet.id), pet);
      assert.deepEqual(await animalStore.getPet(Number(pet.id)), pet);
    }
  }),
  ...ABSENT_IDS.map((id): AnimalStoreCase =>
    promise(
      `rejects with pet_not_found for the ${typeof id} ${Object.is(id, -0) ? '-0' : id}`,
      async ({ animalStore }) => {
        await animalStore.createPet({ name: 'Fido', categoryId: 1n });
        await rejectsWithCode(animalStore.getPet(id), 'pet_not_found');
      },
    ),
  ),
  ...[1.5, NaN, Infinity, 2 ** 53, '1', null, undefined].map((id): AnimalStoreCase =>
    promise(
      `refuses ${typeof id} [${id}] as an id: it is neither a bigint nor a safe integer`,
      async ({ animalStore }) => {
        await animalStore.createPet({ name: 'Fido', categoryId: 1n });
        await rejectsWithCode(untyped(animalStore).getPet(id), 'invalid_parameter');
      },
    ),
  ),
  ...Object.entries(OPERATIONS).map(([operation, call]): AnimalStoreCase =>
    promise(
      `rejects with the reason of an aborted signal, and stores nothing: ${operation}`,
      async ({ animalStore }) => {
        const { pet } = await animalStore.createPet({ name: 'Rex', categoryId: 2n });
        assert.deepEqual(await animalStore.getPet(pet.id), pet);
        await rejectsWhenAborted((aborted) => call(animalStore, pet.id, aborted));
        assert.deepEqual(await animalStore.listPets(), { pets: [pet] });
        const { replayed } = await animalStore.createPet({ name: 'Max', categoryId: 3n }, { idempotencyKey });
        assert.equal(replayed, false);
      },
    ),
  ),
];

export const readingCases: readonly AnimalStoreCase[] = [...listing, ...paging, ...getting];
