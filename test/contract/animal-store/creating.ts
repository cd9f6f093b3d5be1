import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import type { NewPet, UnsavedPet } from '../../../src/domain/pet.js';
import { DEFAULT_STATUS, PET_STATUSES } from '../../../src/domain/pet-status.js';
import { assert } from '../assert.js';
import { promise } from '../contract.js';
import { checkOnce, rejectsWithCode } from '../rejection.js';
import { FULL_PET, INT64_EDGES, FIELD_VALUES, times } from '../samples.js';
import { untyped, type AnimalStoreCase, type AnimalStoreSubject } from './subject.js';

const FIDO = { name: 'Fido', categoryId: 2n ** 53n + 1n };

/** Checks an animal in every way to get one. */
const createsExactly =
  (animal: NewPet) =>
  async ({ animalStore }: AnimalStoreSubject): Promise<void> => {
    const { pet, replayed } = await animalStore.createPet(animal);
    assert.equal(replayed, false);
    assert.ok(pet.id > 0n);
    const { categoryId, status = DEFAULT_STATUS } = animal;
    assert.deepEqual(pet, { ...animal, id: pet.id, categoryId: BigInt(categoryId), status });
    assert.deepEqual(await animalStore.listPets({ status }), { pets: [pet] });
    const found = await animalStore.getPet(pet.id);
    assert.deepEqual(found, pet);
    for (const one of [pet, found]) assert.ok(Object.isFrozen(one));
  };

const CREATED: Readonly<Record<string, NewPet>> = {
  'with every field': FULL_PET,
  'without a status, as available': FIDO,
  'with the status undefined, as available': { ...FIDO, status: undefined },
  ...Object.fromEntries(PET_STATUSES.map((status) => [`with the status ${status}`, { ...FIDO, status }])),
  ...Object.fromEntries(
    [...INT64_EDGES, 0, -0, 7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER].map((categoryId) => [
      `with the ${typeof categoryId} ${Object.is(categoryId, -0) ? '-0' : categoryId} as categoryId`,
      { ...FIDO, categoryId },
    ]),
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
  name: [undefined, null, 5, [], {}, '', ' ', '\t\r\n\u0085\u00a0\u3000', 'a\0b', 'a\ud800b', '\udc00'],
  categoryId: [
    [undefined, null, '7', '', true, [[]], {}],
    [1.5, NaN, Infinity, -Infinity, 2 ** 53, -(2 ** 53), 2 ** 63],
    [INT64_MAX + 1n, INT64_MIN - 1n, 2n ** 64n + 1n],
  ].flat(),
  status: [null, '', 'gone', 'Available', ' sold', 0, [], ['sold']],
};

/** Another value for each field, so that the animal is another one. A new field does not compile here. */
const OTHER_VALUES: { readonly [Field in keyof UnsavedPet]-?: readonly UnsavedPet[Field][] } = {
  name: ['fido', 'Fido '],
  categoryId: [2n ** 53n, -(2n ** 53n) - 1n],
  status: ['sold'],
};

const shown = (value: unknown): string =>
  typeof value === 'string' ? `the text ${JSON.stringify(value)}` : `${typeof value} [${String(value)}]`;

const assertNames = (error: Error, ...fields: readonly string[]): void => {
  for (const field of fields) assert.match(error.message, new RegExp(`\\b${field}\\b`));
};

const creating: readonly AnimalStoreCase[] = [
  ...Object.entries(CREATED).map(([what, animal]) => ({
    name: `creates an animal ${what}`,
    run: createsExactly(animal),
  })),
  promise('assigns ids itself and drops unknown fields', async ({ animalStore }) => {
    const { pet } = await untyped(animalStore).createPet({ ...FIDO, id: 99n, colour: 'black' });
    assert.deepEqual(pet, { id: pet.id, ...FIDO, status: DEFAULT_STATUS });
    assert.notEqual(pet.id, 99n);
    assert.deepEqual(await animalStore.getPet(pet.id), pet);
  }),
  ...Object.entries(BAD_VALUES).flatMap(([field, values]) =>
    values.map((value): AnimalStoreCase =>
      promise(
        `refuses ${shown(value)} as ${field}, names the field, and stores nothing`,
        async ({ animalStore }) => {
          const refused = untyped(animalStore).createPet({ ...FULL_PET, [field]: value });
          assertNames(await rejectsWithCode(refused, 'invalid_pet'), field);
          assert.deepEqual(await animalStore.listPets(), { pets: [] });
        },
      ),
    ),
  ),
  ...[null, 'Fido', 5, true, []].map((animal): AnimalStoreCase =>
    promise(`refuses ${shown(animal)} as an animal, and stores nothing`, async ({ animalStore }) => {
      await rejectsWithCode(untyped(animalStore).createPet(animal), 'invalid_pet');
      assert.deepEqual(await animalStore.listPets(), { pets: [] });
    }),
  ),
  promise('names every fault of an animal in one message', async ({ animalStore }) => {
    const wrong = untyped(animalStore).createPet({ name: ' ', categoryId: 1.5, status: 'gone' });
    assertNames(await rejectsWithCode(wrong, 'invalid_pet'), 'name', 'categoryId', 'status');
    const missing = untyped(animalStore).createPet({});
    assertNames(await rejectsWithCode(missing, 'invalid_pet'), 'name', 'categoryId');
  }),
];

const keyed = (fields: { scope?: string; key?: string } = {}) => ({
  idempotencyKey: { scope: 'a-scope', key: 'a-key', ...fields },
});

const needsOwnScope = ({ scopeOfCaller }: AnimalStoreSubject): string | undefined =>
  scopeOfCaller ? "the caller's identity is the scope" : undefined;

/** Texts that are empty, too long, not storable or no texts. */
const BAD_TEXTS = ['', 'x'.repeat(256), '\ud800', 'a\0b', 5];

const refusesKeys =
  (...keys: readonly { scope?: unknown; key?: unknown }[]) =>
  async ({ animalStore }: AnimalStoreSubject): Promise<void> => {
    for (const fields of keys) {
      const call = { idempotencyKey: { ...keyed().idempotencyKey, ...fields } };
      await rejectsWithCode(untyped(animalStore).createPet(FIDO, call), 'invalid_parameter');
    }
    assert.deepEqual(await animalStore.listPets(), { pets: [] });
  };

const retrying: readonly AnimalStoreCase[] = [
  promise(
    'creates once for an idempotency key and replays the animal as it was created',
    async ({ animalStore }) => {
      const created = await animalStore.createPet(FULL_PET, keyed());
      assert.equal(created.replayed, false);
      for (let retries = 0; retries < 3; retries += 1) {
        const replay = await animalStore.createPet(FULL_PET, keyed());
        assert.deepEqual(replay, { pet: created.pet, replayed: true });
        assert.ok(Object.isFrozen(replay.pet));
      }
      assert.deepEqual(await animalStore.listPets(), { pets: [created.pet] });
    },
  ),
  promise('recognises the same animal in another spelling', async ({ animalStore }) => {
    const { pet } = await animalStore.createPet({ name: 'Fido', categoryId: 7n }, keyed());
    const again = { status: DEFAULT_STATUS, categoryId: 7, name: 'Fido' };
    assert.deepEqual(await animalStore.createPet(again, keyed()), { pet, replayed: true });
  }),
  ...Object.entries(OTHER_VALUES).flatMap(([field, values]) =>
    values.map((value): AnimalStoreCase =>
      promise(
        `refuses an idempotency key that was used for an animal with another ${field} (${value}), and stores nothing`,
        async ({ animalStore }) => {
          const { pet } = await animalStore.createPet(FIDO, keyed());
          const reused = animalStore.createPet({ ...FIDO, [field]: value }, keyed());
          await rejectsWithCode(reused, 'idempotency_key_reused');
          assert.deepEqual(await animalStore.listPets(), { pets: [pet] });
          assert.deepEqual(await animalStore.createPet(FIDO, keyed()), { pet, replayed: true });
        },
      ),
    ),
  ),
  promise('separates idempotency keys that differ in case', async ({ animalStore }) => {
    const first = await animalStore.createPet(FIDO, keyed({ key: 'one' }));
    const second = await animalStore.createPet(FIDO, keyed({ key: 'One' }));
    assert.equal(second.replayed, false);
    assert.deepEqual(await animalStore.listPets(), { pets: [first.pet, second.pet] });
  }),
  {
    name: 'separates equal idempotency keys of different scopes',
    unless: needsOwnScope,
    async run({ animalStore }) {
      const first = await animalStore.createPet(FIDO, keyed({ scope: 'one' }));
      const second = await animalStore.createPet(FIDO, keyed({ scope: 'other' }));
      assert.equal(second.replayed, false);
      assert.deepEqual(await animalStore.listPets(), { pets: [first.pet, second.pet] });
    },
  },
  promise(
    'creates one animal for twenty simultaneous calls with one idempotency key',
    async ({ animalStore }) => {
      const creating = times(20, () => animalStore.createPet(FIDO, keyed()));
      await checkOnce(creating, async () => (await animalStore.listPets()).pets);
    },
  ),
  promise('takes idempotency keys of 1 to 255 characters', async ({ animalStore }) => {
    for (const key of ['x', 'x'.repeat(255)]) {
      assert.equal((await animalStore.createPet(FIDO, keyed({ key }))).replayed, false);
      assert.equal((await animalStore.createPet(FIDO, keyed({ key }))).replayed, true);
    }
  }),
  {
    name: 'refuses idempotency keys that are empty, too long or not storable, and stores nothing',
    run: refusesKeys(...BAD_TEXTS.map((key) => ({ key }))),
  },
  {
    name: 'refuses scopes that are empty, too long or not storable, and stores nothing',
    unless: needsOwnScope,
    run: refusesKeys(...BAD_TEXTS.map((scope) => ({ scope }))),
  },
];

export const creatingCases: readonly AnimalStoreCase[] = [...creating, ...retrying];
