import type {
  AnimalStore,
  ChangeOptions,
  ExperimentalAnimalStore,
} from '../../../src/application/animal-store.js';
import { INT64_MAX } from '../../../src/domain/int64.js';
import { petWithId, unsavedPet, type NewPet } from '../../../src/domain/pet.js';
import { PET_STATUSES, type PetStatus } from '../../../src/domain/pet-status.js';
import assert from 'node:assert/strict';
import { casesOf, each, type Clauses } from '../contract.js';
import { rejectsWhenAborted, rejectsWithCode } from '../rejection.js';
import { FULL_PET } from '../samples.js';
import { PARTS, createAll, newPets, type AnimalStoreSubject } from './subject.js';

type Run = (animalStore: ExperimentalAnimalStore) => Promise<void>;

type Change = (
  animalStore: ExperimentalAnimalStore,
  id: bigint,
  call?: ChangeOptions,
) => Promise<unknown>;

const BOTH: Readonly<Record<'changePet' | 'removePet', Change>> = {
  changePet: (animalStore, id, call) => animalStore.changePet(id, { status: 'sold' }, call),
  removePet: (animalStore, id, call) => animalStore.removePet(id, call),
};

/** What changing and removing have in common. */
const COMMON: Clauses<Run> = {
  ...each(BOTH, (operation, change) => [
    `does nothing to an animal with another status than \`from\`: ${operation}`,
    async (animalStore: ExperimentalAnimalStore) => {
      const { pet } = await animalStore.createPet(FULL_PET);
      for (const from of ['available', 'sold'] as const)
        await rejectsWithCode(change(animalStore, pet.id, { from }), 'status_conflict');
      assert.deepEqual(await animalStore.listPets(), { pets: [pet] });
      await change(animalStore, pet.id, { from: 'pending' });
      assert.deepEqual(await animalStore.listPets({ status: 'pending' }), { pets: [] });
    },
  ]),
  ...each(BOTH, (operation, change) => [
    `does nothing to an animal that is not as \`from\`, which was read: ${operation}`,
    async (animalStore: ExperimentalAnimalStore) => {
      let { pet: from } = await animalStore.createPet(FULL_PET);
      for (const other of [
        { name: 'Renamed' },
        { categoryId: 8n },
        { status: 'available' },
      ] as const) {
        const pet = await animalStore.changePet(from.id, other, { from });
        await rejectsWithCode(change(animalStore, from.id, { from }), 'precondition_failed');
        assert.deepEqual(await animalStore.listPets(), { pets: [pet] });
        from = pet;
      }
      await change(animalStore, from.id, { from });
      assert.deepEqual(await animalStore.listPets({ status: 'available' }), { pets: [] });
    },
  ]),
  ...each(BOTH, (operation, change) => [
    `rejects with pet_not_found for an id that no animal has: ${operation}`,
    async (animalStore: ExperimentalAnimalStore) => {
      const { pet } = await animalStore.createPet(FULL_PET);
      for (const id of [0n, -1n, pet.id + 1n, pet.id + 2n ** 64n, INT64_MAX, INT64_MAX + 1n])
        await rejectsWithCode(change(animalStore, id), 'pet_not_found');
      assert.deepEqual(await animalStore.listPets(), { pets: [pet] });
    },
  ]),
  ...each(BOTH, (operation, change) => [
    `refuses an id that is no integer and an unknown \`from\`: ${operation}`,
    async (animalStore: ExperimentalAnimalStore) => {
      const { pet } = await animalStore.createPet(FULL_PET);
      for (const id of ['1', 1.5, 2 ** 53, null, undefined])
        await rejectsWithCode(change(animalStore, id as unknown as bigint), 'invalid_parameter');
      for (const from of ['gone', '', 'Pending', null, ['pending']]) {
        const refused = change(animalStore, pet.id, { from: from as PetStatus });
        const error = await rejectsWithCode(refused, 'invalid_parameter');
        assert.match(error.message, /\bfrom\b/);
      }
      assert.deepEqual(await animalStore.listPets(), { pets: [pet] });
    },
  ]),
  ...each(BOTH, (operation, change) => [
    `rejects with the reason of an aborted signal, and changes nothing: ${operation}`,
    async (animalStore: ExperimentalAnimalStore) => {
      const { pet } = await animalStore.createPet(FULL_PET);
      await rejectsWhenAborted((aborted) => change(animalStore, pet.id, aborted));
      await rejectsWhenAborted((aborted) => change(animalStore, INT64_MAX + 1n, aborted));
      const from = 'gone' as PetStatus;
      await rejectsWhenAborted((aborted) => change(animalStore, pet.id, { ...aborted, from }));
      assert.deepEqual(await animalStore.listPets(), { pets: [pet] });
    },
  ]),
};

const BAD_CHANGES = Object.entries({
  status: [undefined, null, 'gone', '', 'Sold', ['sold'], 0],
  name: [undefined, null, '', ' \n', 'a\0', '\ud800', 'x'.repeat(1001), 7],
  categoryId: [undefined, null, '7', 1.5, 2 ** 53, INT64_MAX + 1n, true],
}).flatMap(([field, values]) => values.map((value: unknown) => ({ field, value })));

/** Each differs from the one before. */
const GOOD_CHANGES: ReadonlyArray<Partial<NewPet>> = [
  ...[...PET_STATUSES, ...PET_STATUSES].map((status) => ({ status })),
  { name: ' Rex "the \\ king" \u{1f451} ' },
  { name: 'x'.repeat(1000) },
  { categoryId: INT64_MAX },
  { categoryId: 7 },
  { name: 'Fido', categoryId: -1n, status: 'sold' },
];

const CHANGING: Clauses<Run> = {
  async 'changes the given fields of an animal, by a bigint or a number, and nothing else'(
    animalStore,
  ) {
    const { pet } = await animalStore.createPet(FULL_PET);
    let expected = pet;
    for (const change of GOOD_CHANGES) {
      expected = petWithId(pet.id, unsavedPet({ ...expected, ...change }));

      const changed = await animalStore.changePet(pet.id, change);

      assert.deepEqual(changed, expected);
      assert.ok(Object.isFrozen(changed), 'the changed animal is not frozen');
      assert.deepEqual(await animalStore.changePet(Number(pet.id), change), changed);
      assert.deepEqual(await animalStore.getPet(pet.id), changed);
      const { status } = changed;
      assert.deepEqual(await animalStore.listPets({ status }), { pets: [changed] });
    }
  },
  async 'removes an animal, once'(animalStore) {
    const [first, second, third] = await createAll(animalStore, newPets(3));
    const id = second?.id ?? 0n;
    assert.equal(await animalStore.removePet(id), undefined);
    assert.deepEqual(await animalStore.listPets(), { pets: [first, third] });
    for (const call of [...Object.values(BOTH), (store: AnimalStore) => store.getPet(id)])
      await rejectsWithCode(call(animalStore, id), 'pet_not_found');
    await animalStore.removePet(Number(third?.id));
    assert.deepEqual(await animalStore.listPets(), { pets: [first] });
  },
  async 'refuses a change with an invalid field or none, and names it'(animalStore) {
    const { pet } = await animalStore.createPet(FULL_PET);
    for (const { field, value } of BAD_CHANGES) {
      // Whether the animal has the status or not.
      for (const call of [{}, { from: 'available' } as const]) {
        const refused = animalStore.changePet(pet.id, { [field]: value }, call);
        const { message } = await rejectsWithCode(refused, 'invalid_pet');
        assert.ok(message.includes(field), `${field} ${String(value)}: ${message}`);
      }
    }
    for (const change of [{}, null, undefined, 'sold', { id: 5n }]) {
      const refused = animalStore.changePet(pet.id, change as Partial<NewPet>);
      await rejectsWithCode(refused, 'invalid_pet');
    }
    assert.deepEqual(await animalStore.listPets(), { pets: [pet] });
  },
};

/** Changing and removing animals, where the animal store can do it. */
export const changingCases = casesOf({ ...CHANGING, ...COMMON }, PARTS.changes).map(
  ({ name, needs, run }) => ({
    name,
    needs,
    run: ({ animalStore }: AnimalStoreSubject) => run(animalStore as ExperimentalAnimalStore),
  }),
);
