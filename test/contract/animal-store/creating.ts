import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import type { NewPet, UnsavedPet } from '../../../src/domain/pet.js';
import { DEFAULT_STATUS } from '../../../src/domain/pet-status.js';
import assert from 'node:assert/strict';
import { checkRejectsWithCode } from '../rejection.js';
import { FULL_PET, TRICKY_PETS } from '../samples.js';
import { checkNames, valuesOf, type AnimalStoreCases } from './subject.js';

const FIDO = { name: 'Fido', categoryId: 2n ** 53n + 1n };

const VALID: readonly NewPet[] = [
  ...TRICKY_PETS,
  FIDO,
  { ...FIDO, status: undefined },
  { ...FULL_PET, id: -99n, colour: 'black' } as NewPet,
  ...[-0, 7, Number.MAX_SAFE_INTEGER].map((categoryId) => ({ name: 'Fido', categoryId })),
];

/** Values that no animal can have. The compiler checks that every field has some. */
export const BAD_VALUES: { readonly [Field in keyof Required<NewPet>]: readonly unknown[] } = {
  name: [null, 5, [], '', '\t\r\n\u0085\u00a0\u3000', 'a\0b', 'a\ud800b', 'x'.repeat(1001)],
  categoryId: [
    [null, '7', '', true, [[]], 1.5, NaN, Infinity, 2 ** 53],
    [INT64_MAX + 1n, INT64_MIN - 1n, 2n ** 64n + 1n],
  ].flat(),
  status: [null, '', 'gone', 'Available', ' sold', 0, ['sold']],
};

/** Another value for each field, so that the animal is another one. The compiler checks that every field has some. */
const OTHER_VALUES: { readonly [Field in keyof UnsavedPet]-?: readonly UnsavedPet[Field][] } = {
  name: ['fido', 'Fido ', 'Fido","1'],
  categoryId: [8n, -7n, 2n ** 53n],
  status: ['sold'],
};

const keyed = (key: string) => ({ idempotencyKey: { scope: 'a-scope', key } });

export function creatingCases(cases: AnimalStoreCases): void {
  const test = cases('animalStore');

  test('creates an animal exactly, under an id of its own, by default available, without unknown fields', async ({
    animalStore,
  }) => {
    for (const animal of VALID) {
      const { pet, replayed } = await animalStore.createPet(animal);

      const { name, categoryId, status = DEFAULT_STATUS } = animal;
      const expected = { id: pet.id, name, categoryId: BigInt(categoryId), status };
      assert.deepEqual({ pet, replayed }, { pet: expected, replayed: false });
      assert.ok(pet.id > 0n, `the id ${pet.id}`);
      assert.deepEqual(await animalStore.listPets({ after: pet.id - 1n }), { pets: [pet] });
      const found = await animalStore.getPet(pet.id);
      assert.deepEqual(found, pet);
      for (const one of [pet, found]) assert.ok(Object.isFrozen(one), 'the animal is not frozen');
    }
  });

  test('refuses an invalid animal, names every faulty field, and stores nothing', async ({
    animalStore,
  }) => {
    const refused = (animal: unknown, about: string) =>
      checkRejectsWithCode(animalStore.createPet(animal as NewPet), 'invalid_pet', about);
    for (const { field, given, about } of valuesOf(BAD_VALUES))
      checkNames(await refused({ ...FULL_PET, ...given }, about), field);
    for (const animal of [null, 'Fido', 5, true, []]) await refused(animal, String(animal));
    const wrong = { name: ' ', categoryId: 1.5, status: 'gone' };
    checkNames(await refused(wrong, 'all wrong'), 'name', 'categoryId', 'status');
    checkNames(await refused({}, 'no field'), 'name', 'categoryId');
    assert.deepEqual(await animalStore.listPets(), { pets: [] });
  });

  test('creates once for an idempotency key, replays the animal as it was created, and refuses another', async ({
    animalStore,
  }) => {
    for (const key of ['x', 'x'.repeat(255)]) {
      const animal = { name: 'Fido', categoryId: 7n };
      const { pet, replayed } = await animalStore.createPet(animal, keyed(key));
      assert.ok(!replayed, 'the first call was a replay');
      for (const { given, about } of valuesOf(OTHER_VALUES)) {
        const reused = animalStore.createPet({ ...animal, ...given }, keyed(key));
        await checkRejectsWithCode(reused, 'idempotency_key_reused', about);
      }
      for (const again of [animal, { status: DEFAULT_STATUS, categoryId: 7, name: 'Fido' }]) {
        const replay = await animalStore.createPet(again, keyed(key));
        assert.deepEqual(replay, { pet, replayed: true });
        assert.ok(Object.isFrozen(replay.pet), 'the animal of the replay is not frozen');
      }
      assert.deepEqual(await animalStore.listPets({ after: pet.id - 1n }), { pets: [pet] });
    }
  });

  test('refuses an idempotency key that is no object, or whose text is empty, too long or not storable', async ({
    animalStore,
  }) => {
    const keys = ['', null, 0, 'a-key', []].map((idempotencyKey) => ({ idempotencyKey }));
    const texts = ['', 'x'.repeat(256), '\ud800', 'a\0b', 5].map((key) => keyed(key as string));
    for (const options of [...keys, ...texts]) {
      const refused = animalStore.createPet(FIDO, options as (typeof texts)[0]);
      await checkRejectsWithCode(refused, 'invalid_parameter', JSON.stringify(options));
    }
    assert.deepEqual(await animalStore.listPets(), { pets: [] });
  });
}
