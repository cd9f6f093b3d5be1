import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import type { NewPet, UnsavedPet } from '../../../src/domain/pet.js';
import { DEFAULT_STATUS, PET_STATUSES } from '../../../src/domain/pet-status.js';
import assert from 'node:assert/strict';
import { casesOf, each, type Clauses } from '../contract.js';
import { checkOnce, rejectsWithCode } from '../rejection.js';
import { FULL_PET, INT64_EDGES, FIELD_VALUES, times } from '../samples.js';
import { shown } from '../shown.js';
import { PARTS, untyped, type AnimalStoreSubject, type Run } from './subject.js';

const FIDO = { name: 'Fido', categoryId: 2n ** 53n + 1n };

/** Checks an animal in every way to get one. */
const createsExactly =
  (animal: NewPet) =>
  async ({ animalStore }: AnimalStoreSubject): Promise<void> => {
    const { pet, replayed } = await animalStore.createPet(animal);

    assert.ok(!replayed, 'it was a replay');
    assert.ok(pet.id > 0n, `the id ${pet.id} is not positive`);
    const { categoryId, status = DEFAULT_STATUS } = animal;
    assert.deepEqual(pet, { ...animal, id: pet.id, categoryId: BigInt(categoryId), status });
    assert.deepEqual(await animalStore.listPets({ status }), { pets: [pet] });
    const found = await animalStore.getPet(pet.id);
    assert.deepEqual(found, pet);
    for (const one of [pet, found]) assert.ok(Object.isFrozen(one), 'the animal is not frozen');
  };

const CREATED: Readonly<Record<string, NewPet>> = {
  'with every field': FULL_PET,
  'without a status, as available': FIDO,
  'with the status undefined, as available': { ...FIDO, status: undefined },
  ...Object.fromEntries(
    PET_STATUSES.map((status) => [`with the status ${status}`, { ...FIDO, status }]),
  ),
  ...Object.fromEntries(
    [...INT64_EDGES, 0, -0, 7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER].map(
      (categoryId) => [`with ${shown(categoryId)} as categoryId`, { ...FIDO, categoryId }],
    ),
  ),
  ...Object.fromEntries(
    Object.entries(FIELD_VALUES)
      .filter(([field]) => field !== 'categoryId' && field !== 'status')
      .flatMap(([field, values]) =>
        Object.entries(values).map(([what, value]) => [
          `with ${what} in its ${field}`,
          { ...FIDO, [field]: value },
        ]),
      ),
  ),
};

/** Values that no animal can have. A new field does not compile here. */
const BAD_VALUES: { readonly [Field in keyof Required<NewPet>]: readonly unknown[] } = {
  name: [
    undefined,
    null,
    5,
    [],
    {},
    '',
    ' ',
    '\t\r\n\u0085\u00a0\u3000',
    'a\0b',
    'a\ud800b',
    '\udc00',
  ],
  categoryId: [
    [undefined, null, '7', '', true, [[]], {}],
    [1.5, NaN, Infinity, -Infinity, 2 ** 53, -(2 ** 53), 2 ** 63],
    [INT64_MAX + 1n, INT64_MIN - 1n, 2n ** 64n + 1n],
  ].flat(),
  status: [null, '', 'gone', 'Available', ' sold', 0, [], ['sold']],
};

/** Another value for each field, so that the animal is another one. A new field does not compile here. */
const OTHER_VALUES: { readonly [Field in keyof UnsavedPet]-?: readonly UnsavedPet[Field][] } = {
  name: ['fido', 'Fido ', 'Fido","1'],
  categoryId: [2n ** 53n, -(2n ** 53n) - 1n],
  status: ['sold'],
};

const assertNames = (error: Error, ...fields: readonly string[]): void => {
  for (const field of fields) assert.match(error.message, new RegExp(`\\b${field}\\b`));
};

const EXACT = each(CREATED, (what, animal) => [
  `creates an animal ${what}`,
  createsExactly(animal),
]);

const CREATING: Clauses<Run> = {
  async 'assigns ids itself and drops unknown fields'({ animalStore }) {
    const { pet } = await untyped(animalStore).createPet({ ...FIDO, id: 99n, colour: 'black' });
    assert.deepEqual(pet, { id: pet.id, ...FIDO, status: DEFAULT_STATUS });
    assert.notEqual(pet.id, 99n);
    assert.deepEqual(await animalStore.getPet(pet.id), pet);
  },
  ...each(BAD_VALUES, (field, values) => [
    `refuses every invalid ${field}, names the field, and stores nothing`,
    async ({ animalStore }: AnimalStoreSubject) => {
      for (const value of values) {
        const refused = untyped(animalStore).createPet({ ...FULL_PET, [field]: value });
        assertNames(await rejectsWithCode(refused, 'invalid_pet', shown(value)), field);
        assert.deepEqual(await animalStore.listPets(), { pets: [] }, shown(value));
      }
    },
  ]),
  async 'refuses what is no object as an animal, and stores nothing'({ animalStore }) {
    for (const animal of [null, 'Fido', 5, true, []])
      await rejectsWithCode(untyped(animalStore).createPet(animal), 'invalid_pet', shown(animal));
    assert.deepEqual(await animalStore.listPets(), { pets: [] });
  },
  async 'names every fault of an animal in one message'({ animalStore }) {
    const wrong = untyped(animalStore).createPet({ name: ' ', categoryId: 1.5, status: 'gone' });
    assertNames(await rejectsWithCode(wrong, 'invalid_pet'), 'name', 'categoryId', 'status');
    const missing = untyped(animalStore).createPet({});
    assertNames(await rejectsWithCode(missing, 'invalid_pet'), 'name', 'categoryId');
  },
};

const keyed = (fields: { scope?: string; key?: string } = {}) => ({
  idempotencyKey: { scope: 'a-scope', key: 'a-key', ...fields },
});

/** Texts that are empty, too long, not storable or no texts. */
const BAD_TEXTS = ['', 'x'.repeat(256), '\ud800', 'a\0b', 5];

const refusesKeys =
  (part: 'scope' | 'key') =>
  async ({ animalStore }: AnimalStoreSubject): Promise<void> => {
    for (const text of BAD_TEXTS) {
      const call = { idempotencyKey: { ...keyed().idempotencyKey, [part]: text } };
      const refused = untyped(animalStore).createPet(FIDO, call);
      await rejectsWithCode(refused, 'invalid_parameter', shown(text));
    }
    assert.deepEqual(await animalStore.listPets(), { pets: [] });
  };

const RETRYING: Clauses<Run> = {
  async 'creates once for an idempotency key and replays the animal as it was created'({
    animalStore,
  }) {
    const created = await animalStore.createPet(FULL_PET, keyed());
    assert.ok(!created.replayed, 'the first call was a replay');
    for (let retries = 0; retries < 3; retries += 1) {
      const replay = await animalStore.createPet(FULL_PET, keyed());

      assert.deepEqual(replay, { pet: created.pet, replayed: true });
      assert.ok(Object.isFrozen(replay.pet), 'the animal of the replay is not frozen');
    }
    assert.deepEqual(await animalStore.listPets(), { pets: [created.pet] });
  },
  async 'recognises the same animal in another spelling'({ animalStore }) {
    const { pet } = await animalStore.createPet({ name: 'Fido', categoryId: 7n }, keyed());
    const again = { status: DEFAULT_STATUS, categoryId: 7, name: 'Fido' };
    assert.deepEqual(await animalStore.createPet(again, keyed()), { pet, replayed: true });
  },
  ...each(OTHER_VALUES, (field, values) => [
    `refuses an idempotency key that was used for an animal with another ${field}, and stores nothing`,
    async ({ animalStore }: AnimalStoreSubject) => {
      const { pet } = await animalStore.createPet(FIDO, keyed());
      for (const value of values) {
        const reused = animalStore.createPet({ ...FIDO, [field]: value }, keyed());
        await rejectsWithCode(reused, 'idempotency_key_reused', shown(value));
      }
      assert.deepEqual(await animalStore.listPets(), { pets: [pet] });
      assert.deepEqual(await animalStore.createPet(FIDO, keyed()), { pet, replayed: true });
    },
  ]),
  async 'creates one animal for twenty simultaneous calls with one idempotency key'({
    animalStore,
  }) {
    const creating = times(20, () => animalStore.createPet(FIDO, keyed()));
    await checkOnce(creating, async () => (await animalStore.listPets()).pets);
  },
  async 'takes idempotency keys of 1 to 255 characters'({ animalStore }) {
    for (const key of ['x', 'x'.repeat(255)]) {
      const created = await animalStore.createPet(FIDO, keyed({ key }));
      const replay = await animalStore.createPet(FIDO, keyed({ key }));
      assert.deepEqual(replay, { pet: created.pet, replayed: true }, key);
    }
  },
  async 'refuses an idempotency key that is no object, and stores nothing'({ animalStore }) {
    for (const idempotencyKey of ['', null, 0, false, 'a-key', 5, []]) {
      const call = { idempotencyKey };
      const refused = untyped(animalStore).createPet(FIDO, call);
      await rejectsWithCode(refused, 'invalid_parameter', shown(idempotencyKey));
    }
    assert.deepEqual(await animalStore.listPets(), { pets: [] });
  },
  'refuses idempotency keys that are empty, too long or not storable, and stores nothing':
    refusesKeys('key'),
};

const SCOPES: Clauses<Run> = {
  async 'separates equal idempotency keys of different scopes'({ animalStore }) {
    const first = await animalStore.createPet(FIDO, keyed({ scope: 'one' }));
    const second = await animalStore.createPet(FIDO, keyed({ scope: 'other' }));
    assert.deepEqual(await animalStore.listPets(), { pets: [first.pet, second.pet] });
  },
  'refuses scopes that are empty, too long or not storable, and stores nothing':
    refusesKeys('scope'),
};

/** Creating, and retrying a create. */
export const creatingCases = [
  ...casesOf(EXACT),
  ...casesOf(CREATING),
  ...casesOf(RETRYING, PARTS.claims),
  ...casesOf(SCOPES, PARTS.claims, PARTS.scopes),
];
