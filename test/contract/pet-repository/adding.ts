import { ADDS_AT_ONCE } from '../../../src/application/ports/pet-repository.js';
import type { UnsavedPet } from '../../../src/domain/pet.js';
import { PET_STATUSES } from '../../../src/domain/pet-status.js';
import assert from 'node:assert/strict';
import { casesOf, each, type Clauses } from '../contract.js';
import { FIELD_VALUES, FULL_PET, samplePet, times } from '../samples.js';
import { byId, listAll, type StoreSubject, type StoreRun } from '../store-subject.js';

/** Checks an animal in every way to get one. */
const keepsExactly =
  (animal: UnsavedPet) =>
  async ({ pets }: StoreSubject): Promise<void> => {
    const pet = await pets.add(animal);
    assert.deepEqual(pet, { id: pet.id, ...animal });
    assert.deepEqual(await pets.findById(pet.id), pet);
    assert.deepEqual(await listAll(pets), [pet]);
  };

/** Every value of every field. */
export const exactCases = Object.entries<Readonly<Record<string, unknown>>>(FIELD_VALUES).flatMap(
  ([field, values]) =>
    casesOf(
      each(values, (what, value) => [
        `stores the ${field} exactly: ${what}`,
        keepsExactly(samplePet({ [field]: value })),
      ]),
    ),
);

export const ADDING: Clauses<StoreRun> = {
  async 'returns every field of an animal, with the type that the port says, in every way to get one'({
    pets,
  }) {
    const added = await pets.add(FULL_PET);
    const id: unknown = added.id; // checked below
    const found = await pets.findById(BigInt(String(id)));
    const [listed] = await pets.list({ limit: 1 });
    const [filtered] = await pets.list({ limit: 1, status: FULL_PET.status });
    for (const [way, pet] of Object.entries({ added, found, listed, filtered })) {
      assert.equal(typeof pet?.id, 'bigint', `the id of the animal that was ${way}`);
      for (const [field, value] of Object.entries(FULL_PET)) {
        const actual: unknown = pet && Reflect.get(pet, field);
        assert.equal(actual, value, `${field} of the animal that was ${way}`);
      }
      assert.deepEqual(pet, { id, ...FULL_PET });
    }
  },
  async 'assigns positive ids, each greater than every earlier one'({ pets }) {
    let greatest = 0n;
    for (const animal of times(20, () => samplePet())) {
      const pet = await pets.add(animal);
      assert.ok(pet.id > greatest, `${pet.id} came after ${greatest}`);
      greatest = pet.id;
    }
  },
  async 'takes 64 adds at once, and stores each under an id of its own'({ pets }) {
    const names = times(ADDS_AT_ONCE, (number) => `Pet ${number}`);

    const added = await Promise.all(names.map((name) => pets.add(samplePet({ name }))));

    const returned = added.map(({ name }) => name);
    assert.deepEqual(returned, names, 'the names of the animals, in the order of the calls');
    assert.deepEqual(await listAll(pets), added.toSorted(byId));
    const next = await pets.add(samplePet());
    const isGreatest = added.every(({ id }) => id < next.id);
    assert.ok(isGreatest, `${next.id} came after greater ids`);
  },
  async 'shows a new animal to the next read, even one that found nothing or another list just before'({
    pets,
  }) {
    let after = (await pets.add(samplePet())).id;
    for (const status of [...PET_STATUSES, ...PET_STATUSES]) {
      const read = () =>
        Promise.all([
          pets.list({ limit: 100 }),
          pets.list({ limit: 100, status }),
          pets.list({ after, limit: 1 }),
        ]);
      // Most stores assign one of these ids next: a cache may remember that no animal had it.
      const next = times(50, (number) => after + BigInt(number));
      const found = await Promise.all(next.map((id) => pets.findById(id)));
      assert.deepEqual(new Set(found), new Set([undefined]), 'found before it was added');
      const [all, filtered] = await read();

      const pet = await pets.add(samplePet({ status }));

      assert.deepEqual(await pets.findById(pet.id), pet);
      assert.deepEqual(await read(), [[...all, pet], [...filtered, pet], [pet]]);
      after = pet.id;
    }
  },
  async 'returns frozen animals, in a list that is not its own'({ pets }) {
    const pet = await pets.add(samplePet());
    const returned = [pet, await pets.findById(pet.id), ...(await listAll(pets))];
    for (const animal of returned)
      assert.ok(animal && Object.isFrozen(animal), 'an animal is not frozen');
    Reflect.set(await listAll(pets), 'length', 0);
    assert.deepEqual(await listAll(pets), [pet]);
  },
};
