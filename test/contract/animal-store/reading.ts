import type { AnimalStore, CallOptions, PetQuery } from '../../../src/application/animal-store.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import { PET_STATUSES } from '../../../src/domain/pet-status.js';
import assert from 'node:assert/strict';
import { casesOf, each, type Clauses } from '../contract.js';
import { rejectsWhenAborted, rejectsWithCode } from '../rejection.js';
import { times } from '../samples.js';
import { shown } from '../shown.js';
import {
  createAll,
  newPets,
  pagesOf,
  type Run,
  untyped,
  type AnimalStoreSubject,
} from './subject.js';

const FILTERS = [undefined, ...PET_STATUSES];

const BAD_PARAMETERS: Readonly<Record<keyof PetQuery, readonly unknown[]>> = {
  limit: [0, -1, 101, 1.5, NaN, Infinity, 2 ** 32 + 1, '5', 5n, null, [5]],
  status: ['gone', '', 'Sold', ' sold', 'available,sold', 0, null, ['sold']],
  // Bigints only. The client must refuse the rest itself: in a URL, 1 and 1n are the same.
  after: [INT64_MIN - 1n, INT64_MAX + 1n, 1, '1', '', null, {}],
};

const LISTING: Clauses<Run> = {
  async 'lists nothing, without a next page, when the store is empty'({ animalStore }) {
    assert.deepEqual(await animalStore.listPets(), { pets: [] });
    assert.deepEqual(await animalStore.listPets({ limit: 1, status: 'sold' }, {}), { pets: [] });
  },
  async 'lists twenty animals of every status in ascending order of id by default'({
    animalStore,
  }) {
    const created = await createAll(animalStore, newPets(21));
    const page = await animalStore.listPets();
    assert.deepEqual(page.pets, created.slice(0, 20));
    assert.equal(typeof page.next, 'bigint');
    const undefinedOptions = { limit: undefined, status: undefined, after: undefined };
    assert.deepEqual(await animalStore.listPets(undefinedOptions), page);
  },
  async 'lists 1 to 100 animals at a time'({ animalStore }) {
    const created = await createAll(animalStore, newPets(101));
    for (const limit of [1, 2, 99, 100]) {
      const page = await animalStore.listPets({ limit });
      assert.deepEqual(page.pets, created.slice(0, limit));
      assert.ok(page.next, 'a page before the last has no `next`');
    }
  },
  ...each(BAD_PARAMETERS, (parameter, values) => [
    `refuses every invalid ${parameter}, and names it`,
    async ({ animalStore }: AnimalStoreSubject) => {
      for (const value of values) {
        const refused = untyped(animalStore).listPets({ [parameter]: value });
        const error = await rejectsWithCode(refused, 'invalid_parameter', shown(value));
        assert.match(error.message, new RegExp(`\\b${parameter}\\b`));
      }
    },
  ]),
  async 'returns pages that can be changed without changing the store'({ animalStore }) {
    const created = await createAll(animalStore, newPets(2));
    const page = await animalStore.listPets();
    for (const pet of page.pets) {
      assert.ok(Object.isFrozen(pet), 'an animal of the list is not frozen');
      Reflect.set(pet, 'name', 'Rex');
    }
    Reflect.set(page.pets, 'length', 0);
    assert.deepEqual(await animalStore.listPets(), { pets: created });
  },
  async 'fills every page but the last, which has no next, with a filter or without'({
    animalStore,
  }) {
    const created = await createAll(animalStore, newPets(30));
    for (const status of FILTERS) {
      const expected = created.filter((pet) => status === undefined || pet.status === status);
      for (const limit of [1, 3, 4, expected.length - 1, expected.length, expected.length + 1]) {
        const pages = times(Math.ceil(expected.length / limit), (number) =>
          expected.slice((number - 1) * limit, number * limit),
        );
        const found = await pagesOf(animalStore, { limit, status });
        assert.deepEqual(found, pages, `${status}, limit ${limit}`);
      }
    }
  },
  async 'begins a page behind any id, also of an animal that the filter leaves out'({
    animalStore,
  }) {
    const created = await createAll(animalStore, newPets(9));
    for (const status of FILTERS) {
      const listed = created.filter((pet) => status === undefined || pet.status === status);
      for (const after of [INT64_MIN, -1n, 0n, ...created.map(({ id }) => id), INT64_MAX]) {
        const page = await animalStore.listPets({ status, after });
        const pets = listed.filter(({ id }) => id > after);
        assert.deepEqual(page, { pets }, `after ${after}, with the status ${status ?? 'any'}`);
      }
    }
  },
};

const ABSENT_IDS = [
  [0, -0, 0n, -1n, 2n ** 53n + 1n, INT64_MAX, INT64_MIN],
  [INT64_MAX + 1n, INT64_MIN - 1n, 2n ** 64n + 1n],
].flat();

const idempotencyKey = { scope: 'a-scope', key: 'a-key' };

type Operation = (animalStore: AnimalStore, id: bigint, call?: CallOptions) => Promise<unknown>;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  listPets: (animalStore, _id, call) => animalStore.listPets({}, call),
  createPet: (animalStore, _id, call) =>
    animalStore.createPet({ name: 'Fido', categoryId: 1n }, call),
  'createPet with an idempotency key': (animalStore, _id, call) =>
    animalStore.createPet({ name: 'Fido', categoryId: 1n }, { idempotencyKey, ...call }),
  'listPets with an invalid limit': (animalStore, _id, call) =>
    animalStore.listPets({ limit: 0 }, call),
  'createPet with an invalid animal': (animalStore, _id, call) =>
    animalStore.createPet({ name: '', categoryId: 1n }, call),
  'createPet with an invalid idempotency key': (animalStore, _id, call) =>
    animalStore.createPet(
      { name: 'Fido', categoryId: 1n },
      { idempotencyKey: { ...idempotencyKey, key: '' }, ...call },
    ),
  getPet: (animalStore, id, call) => animalStore.getPet(id, call),
  'getPet with an invalid id': (animalStore, _id, call) => animalStore.getPet(1.5, call),
  'getPet with an id outside int64': (animalStore, _id, call) =>
    animalStore.getPet(INT64_MAX + 1n, call),
};

const GETTING: Clauses<Run> = {
  async 'gets each animal by its id, as a bigint or as a number'({ animalStore }) {
    for (const pet of await createAll(animalStore, newPets(12))) {
      assert.deepEqual(await animalStore.getPet(pet.id), pet);
      assert.deepEqual(await animalStore.getPet(Number(pet.id)), pet);
    }
  },
  async 'rejects with pet_not_found for an id that no animal has, in int64 or not'({
    animalStore,
  }) {
    await animalStore.createPet({ name: 'Fido', categoryId: 1n });
    for (const id of ABSENT_IDS)
      await rejectsWithCode(animalStore.getPet(id), 'pet_not_found', shown(id));
  },
  async 'refuses an id that is neither a bigint nor a safe integer'({ animalStore }) {
    await animalStore.createPet({ name: 'Fido', categoryId: 1n });
    for (const id of [1.5, NaN, Infinity, 2 ** 53, '1', null, undefined])
      await rejectsWithCode(untyped(animalStore).getPet(id), 'invalid_parameter', shown(id));
  },
  ...each(OPERATIONS, (operation, call) => [
    `rejects with the reason of an aborted signal, and stores nothing: ${operation}`,
    async ({ animalStore }: AnimalStoreSubject) => {
      const { pet } = await animalStore.createPet({ name: 'Rex', categoryId: 2n });
      assert.deepEqual(await animalStore.getPet(pet.id), pet);
      await rejectsWhenAborted((aborted) => call(animalStore, pet.id, aborted));
      assert.deepEqual(await animalStore.listPets(), { pets: [pet] });
      const keyed = animalStore.keepsIdempotencyKeys === false ? {} : { idempotencyKey };
      const other = await animalStore.createPet({ name: 'Max', categoryId: 3n }, keyed);
      assert.ok(!other.replayed, 'the aborted call has used up the idempotency key');
    },
  ]),
};

/** Listing, and getting an animal. */
export const readingCases = casesOf({ ...LISTING, ...GETTING });
