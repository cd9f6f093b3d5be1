import type { ChangeOptions } from '../../../src/application/animal-store.js';
import { INT64_MAX } from '../../../src/domain/int64.js';
import { petWithId, unsavedPet, type NewPet } from '../../../src/domain/pet.js';
import { PET_STATUSES, type PetStatus } from '../../../src/domain/pet-status.js';
import assert from 'node:assert/strict';
import { checkRejectsWhenAborted, checkRejectsWithCode } from '../rejection.js';
import { FULL_PET } from '../samples.js';
import { BAD_VALUES } from './creating.js';
import {
  checkNames,
  createMany,
  numberIfSafe,
  valuesOf,
  type AnimalStoreCases,
  type AnimalStoreSubject,
} from './subject.js';

/** Each differs from the one before. */
const CHANGES: ReadonlyArray<Partial<NewPet>> = [
  ...[...PET_STATUSES, ...PET_STATUSES].map((status) => ({ status })),
  { name: ' Rex "the \\ king" \u{1f451} ' },
  { categoryId: INT64_MAX },
  { categoryId: 7 },
  { name: 'x'.repeat(1000), categoryId: -1n, status: 'sold' },
];

/** Both operations, with a valid change. */
const bothOf = ({ changePet, removePet }: AnimalStoreSubject) => [
  (id: bigint, options?: ChangeOptions) => changePet(id, { status: 'sold' }, options),
  removePet,
];

export function changingCases(cases: AnimalStoreCases): void {
  const test = cases('animalStore', 'changePet', 'removePet');

  test('changes the given fields of an animal, by a bigint or a number, and nothing else', async ({
    animalStore,
    changePet,
  }) => {
    const [other, pet] = await createMany(animalStore, 2);
    assert.ok(other && pet);
    let expected = pet;
    for (const change of CHANGES) {
      expected = petWithId(pet.id, unsavedPet({ ...expected, ...change }));
      for (const id of [pet.id, numberIfSafe(pet.id)]) {
        const changed = await changePet(id, change);
        assert.deepEqual(changed, expected);
        assert.ok(Object.isFrozen(changed), 'the changed animal is not frozen');
      }
      assert.deepEqual(await animalStore.listPets(), { pets: [other, expected] });
    }
  });

  test('removes an animal, once', async (subject) => {
    const { animalStore, removePet } = subject;
    const [first, second, third] = await createMany(animalStore, 3);
    assert.ok(second && third);
    assert.equal(await removePet(second.id), undefined);
    assert.deepEqual(await animalStore.listPets(), { pets: [first, third] });
    for (const call of bothOf(subject))
      await checkRejectsWithCode(call(second.id), 'pet_not_found');
    await removePet(numberIfSafe(third.id));
    assert.deepEqual(await animalStore.listPets(), { pets: [first] });
  });

  test('does nothing to an animal with another status than `from`', async (subject) => {
    const { animalStore } = subject;
    for (const change of bothOf(subject)) {
      const { pet } = await animalStore.createPet(FULL_PET);
      for (const from of ['available', 'sold'] as const)
        await checkRejectsWithCode(change(pet.id, { from }), 'status_conflict', from);
      assert.deepEqual(await animalStore.getPet(pet.id), pet);
      await change(pet.id, { from: 'pending' });
      assert.deepEqual(await animalStore.listPets({ status: 'pending' }), { pets: [] });
    }
  });

  test('refuses an unknown animal, an invalid id and an unknown `from`', async (subject) => {
    const { pet } = await subject.animalStore.createPet(FULL_PET);
    for (const change of bothOf(subject)) {
      for (const id of [0n, pet.id + 1n, pet.id + 2n ** 64n, INT64_MAX + 1n])
        await checkRejectsWithCode(change(id), 'pet_not_found', id);
      for (const id of ['1', 1.5, 2 ** 53, null, undefined])
        await checkRejectsWithCode(change(id as unknown as bigint), 'invalid_parameter', id);
      for (const from of ['gone', '', 'Pending', null, ['pending']]) {
        const refused = change(pet.id, { from: from as PetStatus });
        checkNames(await checkRejectsWithCode(refused, 'invalid_parameter', from), 'from');
      }
    }
    assert.deepEqual(await subject.animalStore.listPets(), { pets: [pet] });
  });

  test('refuses a change with an invalid field or none, and names it', async ({
    animalStore,
    changePet,
  }) => {
    const { pet } = await animalStore.createPet(FULL_PET);
    for (const options of [{}, { from: 'available' } as const]) {
      for (const { field, given, about } of valuesOf(BAD_VALUES)) {
        const refused = changePet(pet.id, given, options);
        checkNames(await checkRejectsWithCode(refused, 'invalid_pet', about), field);
      }
      for (const change of [{}, null, 'sold', { id: 5 }, { name: undefined }]) {
        const refused = changePet(pet.id, change as never, options);
        await checkRejectsWithCode(refused, 'invalid_pet', JSON.stringify(change));
      }
    }
    assert.deepEqual(await animalStore.listPets(), { pets: [pet] });
  });

  test('rejects aborted calls with the reason, even for invalid arguments, and changes nothing', async (subject) => {
    const { pet } = await subject.animalStore.createPet(FULL_PET);
    const from = 'gone' as PetStatus;
    for (const change of bothOf(subject))
      await checkRejectsWhenAborted((options) => [
        change(pet.id, options),
        change(INT64_MAX + 1n, options),
        change(pet.id, { ...options, from }),
      ]);
    assert.deepEqual(await subject.animalStore.listPets(), { pets: [pet] });
  });
}
