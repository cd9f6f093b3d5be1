import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import { assert } from '../assert.js';
import { checkOnce, rejectsWithCode } from '../rejection.js';
import { DISTINCT_PAIRS, FIELD_VALUES, FULL_PET, claimed, claimedAt, samplePet, times } from '../samples.js';
import {
  notDurable,
  notOrdered,
  notShared,
  addAll,
  anotherHandle,
  besideReads,
  listAll,
  reopened,
  type StoreCase,
  type StoreSubject,
} from '../store-subject.js';

/** Two handles if the store is shared, else the same one twice. */
async function twoHandles({ pets, another }: StoreSubject) {
  return [pets, another ? (await another()).pets : pets] as const;
}

const addDistinctClaims = (pets: PetRepository) =>
  Promise.all(DISTINCT_PAIRS.map(([scope, key]) => pets.add(FULL_PET, claimed({ scope, key }))));

const durabilityCases: readonly StoreCase[] = [
  {
    name: 'has every animal exactly as before after closing and opening again',
    unless: notDurable,
    async run(subject) {
      const { categoryId, name, status } = FIELD_VALUES;
      const stored = await addAll(subject.pets, [
        ...Object.values(categoryId).map((value) => samplePet({ ...FULL_PET, categoryId: value })),
        ...Object.values(name).map((value) => samplePet({ name: value })),
        ...Object.values(status).map((value) => samplePet({ status: value })),
      ]);
      const { pets } = await reopened(subject);
      assert.deepEqual(await listAll(pets), stored);
      for (const pet of stored) assert.deepEqual(await pets.findById(pet.id), pet);
      for (const value of Object.values(status)) {
        assert.deepEqual(
          await pets.list({ limit: 1000, status: value }),
          stored.filter((pet) => pet.status === value),
        );
      }
    },
  },
  {
    name: 'assigns greater ids after closing and opening again',
    unless: notDurable,
    async run(subject) {
      const stored = await addAll(
        subject.pets,
        times(5, () => samplePet()),
      );
      const { pets } = await reopened(subject);
      const { pet } = await pets.add(samplePet());
      assert.ok(stored.every(({ id }) => id < pet.id));
      assert.deepEqual(await listAll(pets), [...stored, pet]);
    },
  },
  {
    name: 'has every animal whose add resolved while it was closing',
    unless: notDurable,
    async run(subject) {
      const adding = Promise.allSettled(times(20, () => subject.pets.add(samplePet())));
      const { pets } = await reopened(subject);
      for (const result of await adding) {
        if (result.status === 'fulfilled') {
          assert.deepEqual(await pets.findById(result.value.pet.id), result.value.pet);
        }
      }
    },
  },
];

const claimCases: readonly StoreCase[] = (
  [
    ['before closing and opening again', notDurable, reopened],
    ['another handle', notShared, anotherHandle],
  ] as const
).map(([where, unless, further]) => ({
  name: `replays every claim from ${where} exactly, and refuses it for another fingerprint`,
  unless,
  async run(subject) {
    const added = await addDistinctClaims(subject.pets);
    const { pets } = await further(subject);
    assert.deepEqual(
      await addDistinctClaims(pets),
      added.map(({ pet }) => ({ pet, replayed: true })),
    );
    const [[scope, key] = ['', '']] = DISTINCT_PAIRS;
    const other = claimed({ scope, key, fingerprint: 'another fingerprint' });
    await rejectsWithCode(pets.add(samplePet(), other), 'idempotency_key_reused');
    assert.equal((await listAll(pets)).length, added.length);
  },
}));

const sharingCases: readonly StoreCase[] = [
  {
    name: 'shows an animal to the next read of another handle, even one that found nothing just before',
    unless: notShared,
    async run(subject) {
      const { pets: other } = await anotherHandle(subject);
      for (const [writer, reader] of [
        [subject.pets, other],
        [other, subject.pets],
      ] as const) {
        let { id } = (await writer.add(samplePet())).pet;
        // The reader never writes between two reads: a write of its own would clear its cache.
        for (const status of ['sold', 'pending', 'sold'] as const) {
          const ranges = [{ limit: 100 }, { limit: 100, status }, { after: id, limit: 100 }];
          await Promise.all(times(50, (number) => reader.findById(id + BigInt(number))));
          for (const range of ranges) await reader.list(range);
          const { pet } = await writer.add(samplePet({ status }));
          assert.deepEqual(await reader.findById(pet.id), pet);
          for (const range of ranges) {
            // In any place: ids of different handles need not ascend together.
            const listed = (await reader.list(range)).find((animal) => animal.id === pet.id);
            assert.deepEqual(listed, pet, `in the list with ${Object.keys(range).join(' and ')}`);
          }
          ({ id } = pet);
        }
      }
    },
  },
  {
    name: 'shows each animal at once to another handle that reads all the time',
    unless: notShared,
    async run(subject) {
      const { pets: other } = await anotherHandle(subject);
      const first = (await subject.pets.add(samplePet())).pet;
      await besideReads(
        () => other.findById(first.id),
        async () => {
          const { pet } = await subject.pets.add(samplePet());
          assert.deepEqual(await other.findById(pet.id), pet);
        },
      );
    },
  },
  {
    name: 'assigns distinct ids to simultaneous writers on two handles',
    unless: notShared,
    async run(subject) {
      const { pets: other } = await anotherHandle(subject);
      const animals = times(20, (number) => samplePet({ name: `Pet ${number}` }));
      const added = await Promise.all([addAll(subject.pets, animals), addAll(other, animals)]);
      assert.equal(new Set(added.flat().map(({ id }) => id)).size, 40);
      const listed = await listAll(subject.pets);
      assert.equal(listed.length, 40);
      assert.deepEqual(await listAll(other), listed);
    },
  },
  {
    name: 'stores one animal for simultaneous equal claims on two handles',
    unless: notShared,
    async run(subject) {
      const { pets: other } = await anotherHandle(subject);
      const adding = times(20, (number) =>
        (number % 2 === 0 ? subject.pets : other).add(samplePet(), claimed()),
      );
      await checkOnce(adding, () => listAll(other));
    },
  },
  {
    name: 'stores one animal for simultaneous claims on two handles of a key that has lapsed',
    unless: notShared,
    async run(subject) {
      const { pets: other } = await anotherHandle(subject);
      const { pet: first } = await subject.pets.add(samplePet(), claimed());
      const adding = times(20, (number) =>
        (number % 2 === 0 ? subject.pets : other).add(samplePet(), claimedAt(24 * 60 * 60 * 1000)),
      );
      await checkOnce(adding, async () => (await listAll(other)).filter(({ id }) => id !== first.id));
    },
  },
  {
    name: 'stays open when another handle is closed',
    unless: notShared,
    async run(subject) {
      const { pets: other } = await anotherHandle(subject);
      await other.add(samplePet());
      await other.close();
      await subject.pets.check();
      await subject.pets.add(samplePet());
      assert.equal((await listAll(subject.pets)).length, 2);
    },
  },
];

const orderingCases: readonly StoreCase[] = [
  {
    name: 'shows no new animal with an id lower than one seen before, while twenty writers add',
    unless: notOrdered,
    async run(subject) {
      const handles = await twoHandles(subject);
      const [reader] = handles;
      const { pet: first } = await reader.add(samplePet());
      let writing = true;
      const written = Promise.allSettled(
        times(20, async (number) => {
          const writer = handles[number % 2 === 0 ? 1 : 0];
          for (let round = 0; round < 10; round += 1) await writer.add(samplePet());
        }),
      ).finally(() => (writing = false));
      const seen = [first];
      for (let pages = 1, last = false; !last; pages += 1) {
        last = !writing;
        seen.push(...(await reader.list({ after: seen.at(-1)?.id, limit: 1000 })));
        // Reads from memory would keep writers waiting that need the disk.
        if (pages % 20 === 0) await new Promise((resolve) => setTimeout(resolve));
      }
      await written;
      assert.deepEqual(seen, await listAll(reader));
      assert.equal(seen.length, 201);
    },
  },
];

/** Promises about several handles on one store: one after another, or at the same time. */
export const handleCases: readonly StoreCase[] = [
  ...durabilityCases,
  ...claimCases,
  ...sharingCases,
  ...orderingCases,
];
