import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import type { Pet } from '../../../src/domain/pet.js';
import assert from 'node:assert/strict';
import { TRICKY_PETS, petInTurn, samplePet, samplePets, times } from '../samples.js';
import { checkAborts } from '../store-operations.js';
import type { StoreSubject } from '../store-cases.js';
import { addAll, byId, checkReads, listAll } from '../stored-animals.js';
import type { Cases } from '../suite.js';

/** Twenty times: reads what is not there, adds an animal through `writer`, and finds it through `reader` at once. */
async function checkNextRead(writer: PetRepository, reader: PetRepository): Promise<void> {
  let { id: after } = await writer.add(samplePet());
  for (const animal of times(20, petInTurn)) {
    const { status } = animal;
    const ranges = [{ limit: 100 }, { limit: 100, status }, { after, limit: 100 }];
    // Most stores assign one of these ids next: a cache may remember that no animal had it.
    await Promise.all(times(5, (distance) => reader.findById(after + BigInt(distance))));
    for (const range of ranges) await reader.list(range);

    const pet = await writer.add(animal);

    assert.deepEqual(await reader.findById(pet.id), pet);
    for (const range of ranges) {
      // In any place: ids of different handles need not ascend together.
      const listed = (await reader.list(range)).find(({ id }) => id === pet.id);
      assert.deepEqual(listed, pet, `in the list with ${Object.keys(range).join(' and ')}`);
    }
    after = pet.id;
  }
}

/** Runs `work` while four readers keep the handle busy. Shows a handle that refreshes its snapshot only when idle. */
async function besideReaders(pets: PetRepository, work: Promise<void>): Promise<void> {
  const over = new AbortController();
  const read = async (reader: number): Promise<void> => {
    for (let turn = 0; !over.signal.aborted; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (turn >= reader) await pets.findById(1n); // they start one turn apart
    }
  };
  await Promise.all([work.finally(() => over.abort()), ...times(4, read)]);
}

export function addingCases(cases: Cases<StoreSubject>): void {
  const test = cases('pets');
  const durable = cases('pets', 'reopen');
  const shared = cases('pets', 'another');

  test('keeps every value exactly, under ascending ids, also after reopening', async ({
    pets,
    reopen,
  }) => {
    const stored: Pet[] = [];
    for (const animal of TRICKY_PETS) {
      const pet = await pets.add(animal);
      assert.deepEqual(pet, { id: pet.id, ...animal });
      assert.equal(typeof pet.id, 'bigint', 'the type of an id');
      const last = stored.at(-1)?.id ?? 0n;
      assert.ok(pet.id > last, `${pet.id} was assigned after ${last}`);
      stored.push(pet);
    }
    await checkReads(pets, stored);
    await checkReads((await reopen()).pets, stored);
  });

  durable('assigns greater ids after it was opened again', async (subject) => {
    const stored = await addAll(subject.pets, samplePets(5));
    const { pets } = await subject.reopen();
    const pet = await pets.add(samplePet());
    for (const { id } of stored) assert.ok(pet.id > id, `${pet.id} was assigned after ${id}`);
    assert.deepEqual(await listAll(pets), [...stored, pet]);
  });

  test('stores each of many simultaneous adds under an id of its own, through every handle', async (subject) => {
    const handles = [subject.pets, (await subject.another()).pets];
    const names = times(20, (number) => `Pet ${number}`);

    const adding = handles.flatMap((pets) => names.map((name) => pets.add(samplePet({ name }))));
    const added = await Promise.all(adding);

    const returned = added.map(({ name }) => name);
    assert.deepEqual(returned, [...names, ...names], 'the names, in the order of the calls');
    assert.equal(new Set(added.map(({ id }) => id)).size, 40, 'different ids of 40 animals');
    for (const pets of handles) assert.deepEqual(await listAll(pets), added.toSorted(byId));
  });

  test('shows a new animal to the next read, even one that found nothing before', ({ pets }) =>
    checkNextRead(pets, pets));

  shared('shows a new animal at once to another handle that is never idle', async (subject) => {
    const { pets: other } = await subject.another();
    await besideReaders(other, checkNextRead(subject.pets, other));
    await besideReaders(subject.pets, checkNextRead(other, subject.pets));
  });

  test('returns frozen animals, in an array that the caller may change', async ({ pets }) => {
    const pet = await pets.add(samplePet());
    for (const found of [pet, await pets.findById(pet.id), ...(await listAll(pets))])
      assert.ok(found && Object.isFrozen(found), 'an animal is not frozen');
    Reflect.set(await listAll(pets), 'length', 0);
    assert.deepEqual(await listAll(pets), [pet]);
  });

  test('rejects aborted calls with the reason, stores nothing, and leaves no listener', (subject) =>
    checkAborts(subject, 'pets'));
}
