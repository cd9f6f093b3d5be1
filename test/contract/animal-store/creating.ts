import { assert } from '../assert.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import { PET_STATUSES } from '../../../src/domain/pet.js';
import type { NewPet } from '../../../src/domain/pet.js';
import { rejectsWithCode } from '../rejection.js';
import { INT64_EDGES, TRICKY_NAMES, times } from '../samples.js';
import { untyped, type AnimalStoreCase, type AnimalStoreSubject } from './subject.js';

/** Created, found and listed to the letter and to the digit. */
const createsExactly =
  (animal: NewPet) =>
  async ({ animalStore }: AnimalStoreSubject): Promise<void> => {
    const { pet, replayed } = await animalStore.createPet(animal);
    assert.equal(replayed, false);
    assert.ok(pet.id > 0n);
    const { name, categoryId, status = 'available' } = animal;
    assert.deepEqual(pet, { id: pet.id, name, categoryId: BigInt(categoryId), status });
    assert.deepEqual(await animalStore.getPet(pet.id), pet);
    assert.deepEqual(await animalStore.listPets({ status }), { pets: [pet] });
    for (const one of [pet, await animalStore.getPet(pet.id)]) assert.ok(Object.isFrozen(one));
  };

const fido = { name: 'Fido', categoryId: 1n };

/** Values that no animal can have, by the field that is at fault. */
const BAD_VALUES: Readonly<Record<keyof NewPet, readonly unknown[]>> = {
  name: [undefined, null, 5, [], {}, '', ' ', '\t\r\n\u0085\u00a0\u3000', 'a\0b', 'a\ud800b', '\udc00'],
  categoryId: [
    undefined,
    null,
    '7',
    '',
    true,
    [],
    {},
    1.5,
    NaN,
    Infinity,
    -Infinity,
    2 ** 53,
    -(2 ** 53),
    2 ** 63,
    INT64_MAX + 1n,
    INT64_MIN - 1n,
    2n ** 64n + 1n,
  ],
  status: [null, '', 'gone', 'Available', ' sold', 0, [], ['sold']],
};

const shown = (value: unknown): string =>
  typeof value === 'string' ? `the text ${JSON.stringify(value)}` : `${typeof value} [${String(value)}]`;

export const creatingCases: readonly AnimalStoreCase[] = [
  { name: 'creates an animal that is available when no status is given', run: createsExactly(fido) },
  {
    name: 'creates an animal that is available when the status is given as undefined',
    run: createsExactly({ ...fido, status: undefined }),
  },
  ...PET_STATUSES.map((status) => ({
    name: `creates an animal that is ${status}`,
    run: createsExactly({ ...fido, status }),
  })),
  ...INT64_EDGES.map((categoryId) => ({
    name: `creates an animal with a categoryId of ${categoryId}, to the digit`,
    run: createsExactly({ ...fido, categoryId }),
  })),
  ...[0, -0, 7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER].map((categoryId) => ({
    name: `takes the safe integer ${Object.is(categoryId, -0) ? '-0' : categoryId} as a categoryId`,
    run: createsExactly({ ...fido, categoryId }),
  })),
  ...Object.entries(TRICKY_NAMES).map(([what, name]) => ({
    name: `creates an animal with ${what} in its name, exactly`,
    run: createsExactly({ ...fido, name }),
  })),
  {
    name: 'assigns ids itself and drops whatever else was given',
    async run({ animalStore }) {
      const { pet } = await untyped(animalStore).createPet({ ...fido, id: 99n, colour: 'black' });
      assert.deepEqual(pet, { id: pet.id, ...fido, status: 'available' });
      assert.notEqual(pet.id, 99n);
      assert.deepEqual(await animalStore.getPet(pet.id), pet);
    },
  },
  {
    name: 'gives twenty simultaneous creates twenty ids, each with its own animal',
    async run({ animalStore }) {
      const created = await Promise.all(
        times(20, (number) => animalStore.createPet({ name: `Pet ${number}`, categoryId: number })),
      );
      assert.equal(new Set(created.map(({ pet }) => pet.id)).size, 20);
      for (const [index, { pet }] of created.entries()) assert.equal(pet.name, `Pet ${index + 1}`);
    },
  },
  ...Object.entries(BAD_VALUES).flatMap(([field, values]) =>
    values.map((value): AnimalStoreCase => ({
      name: `refuses ${shown(value)} as ${field}, naming the field, and stores nothing`,
      async run({ animalStore }) {
        const creating = untyped(animalStore).createPet({ ...fido, status: 'sold', [field]: value });
        const error = await rejectsWithCode(creating, 'invalid_pet');
        assert.match(error.message, new RegExp(`\\b${field}\\b`));
        assert.deepEqual(await animalStore.listPets(), { pets: [] });
      },
    })),
  ),
  ...[null, 'Fido', 5, true, []].map((animal): AnimalStoreCase => ({
    name: `refuses ${shown(animal)} as an animal, and stores nothing`,
    async run({ animalStore }) {
      await rejectsWithCode(untyped(animalStore).createPet(animal), 'invalid_pet');
      assert.deepEqual(await animalStore.listPets(), { pets: [] });
    },
  })),
  {
    name: 'names all faults of an animal in one message',
    async run({ animalStore }) {
      const error = await rejectsWithCode(
        untyped(animalStore).createPet({ name: ' ', categoryId: 1.5, status: 'gone' }),
        'invalid_pet',
      );
      for (const field of ['name', 'categoryId', 'status']) {
        assert.match(error.message, new RegExp(`\\b${field}\\b`));
      }
      const missing = await rejectsWithCode(untyped(animalStore).createPet({}), 'invalid_pet');
      for (const field of ['name', 'categoryId']) {
        assert.match(missing.message, new RegExp(`\\b${field}\\b`));
      }
      assert.deepEqual(await animalStore.listPets(), { pets: [] });
    },
  },
];
