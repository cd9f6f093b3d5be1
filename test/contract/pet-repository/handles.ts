import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import { PET_STATUSES } from '../../../src/domain/pet-status.js';
import assert from 'node:assert/strict';
import { casesOf, type Clauses } from '../contract.js';
import { rejectsWithCode } from '../rejection.js';
import {
  DISTINCT_PAIRS,
  FIELD_VALUES,
  FULL_PET,
  claimed,
  samplePet,
  samplePets,
  times,
} from '../samples.js';
import {
  addAll,
  addOnce,
  anotherHandle,
  besideReads,
  listAll,
  reopened,
  required,
  twoHandles,
  PARTS,
  type StoreRun,
} from '../store-subject.js';

const addDistinctClaims = (pets: PetRepository) =>
  Promise.all(
    DISTINCT_PAIRS.map(([scope, key]) => addOnce(pets, FULL_PET, claimed({ scope, key }))),
  );

/** What a further handle knows of claims that were made through the first. */
const replaysClaims =
  (further: typeof reopened): StoreRun =>
  async (subject) => {
    const added = await addDistinctClaims(subject.pets);
    const { pets } = await further(subject);
    const replays = added.map(({ pet }) => ({ pet, replayed: true }));
    assert.deepEqual(await addDistinctClaims(pets), replays);
    const [[scope, key] = ['', '']] = DISTINCT_PAIRS;
    const other = claimed({ scope, key, fingerprint: 'another fingerprint' });
    await rejectsWithCode(addOnce(pets, samplePet(), other), 'idempotency_key_reused');
    assert.equal((await listAll(pets)).length, added.length);
  };

const DURABLE_CLAIMS: Clauses<StoreRun> = {
  'replays every claim from before closing and opening again exactly, and refuses it for another fingerprint':
    replaysClaims(reopened),
};

const SHARED_CLAIMS: Clauses<StoreRun> = {
  'replays every claim from another handle exactly, and refuses it for another fingerprint':
    replaysClaims(anotherHandle),
};

const DURABILITY: Clauses<StoreRun> = {
  async 'has every animal exactly as before after closing and opening again'(subject) {
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
      const listed = await pets.list({ limit: 1000, status: value });
      const expected = stored.filter((pet) => pet.status === value);
      assert.deepEqual(listed, expected, `the list of what is ${value}`);
    }
  },
  async 'assigns greater ids after closing and opening again'(subject) {
    const stored = await addAll(subject.pets, samplePets(5));
    const { pets } = await reopened(subject);

    const pet = await pets.add(samplePet());

    const greatest = required(stored.at(-1), 'the last animal').id;
    assert.ok(pet.id > greatest, `the new id ${pet.id} came after ${greatest}`);
    assert.deepEqual(await listAll(pets), [...stored, pet]);
  },
};

const SHARING: Clauses<StoreRun> = {
  async 'shows each animal at once to another handle that reads all the time and found nothing before'(
    subject,
  ) {
    const { pets: other } = await anotherHandle(subject);
    for (const [writer, reader] of [
      [subject.pets, other],
      [other, subject.pets],
    ] as const) {
      const { id: first } = await writer.add(samplePet());
      let after = first;
      // The reader never writes between two reads: a write of its own would clear its cache.
      const step = async (number: number): Promise<void> => {
        const status = PET_STATUSES[number % 3] ?? 'sold';
        const ranges = [{ limit: 100 }, { limit: 100, status }, { after, limit: 100 }];
        await Promise.all(times(5, (distance) => reader.findById(after + BigInt(distance))));
        for (const range of ranges) await reader.list(range);
        const pet = await writer.add(samplePet({ status }));
        assert.deepEqual(await reader.findById(pet.id), pet);
        for (const range of ranges) {
          // In any place: ids of different handles need not ascend together.
          const listed = (await reader.list(range)).find(({ id }) => id === pet.id);
          assert.deepEqual(listed, pet, `in the list with ${Object.keys(range).join(' and ')}`);
        }
        after = pet.id;
      };
      await besideReads(() => reader.findById(first), step);
    }
  },
  async 'assigns distinct ids to simultaneous writers on two handles'(subject) {
    const { pets: other } = await anotherHandle(subject);
    const animals = times(20, (number) => samplePet({ name: `Pet ${number}` }));

    const added = await Promise.all([addAll(subject.pets, animals), addAll(other, animals)]);

    const ids = new Set(added.flat().map(({ id }) => id));
    assert.equal(ids.size, 40, 'different ids of 40 animals');
    const listed = await listAll(subject.pets);
    assert.equal(listed.length, 40, 'listed animals of 40');
    assert.deepEqual(await listAll(other), listed);
  },
};

const ORDERING: Clauses<StoreRun> = {
  async 'shows no new animal with an id lower than one seen before, while twenty writers add'(
    subject,
  ) {
    const [{ pets: reader }, { pets: other }] = await twoHandles(subject);
    const first = await reader.add(samplePet());
    let isWriting = true;
    const write = async (): Promise<void> => {
      const writing = times(20, async (number) => {
        const writer = number % 2 === 0 ? other : reader;
        for (let round = 0; round < 10; round += 1) await writer.add(samplePet());
      });
      await Promise.allSettled(writing);
      isWriting = false;
    };
    const written = write();
    const seen = [first];
    for (let pages = 1, isLast = false; !isLast; pages += 1) {
      isLast = !isWriting;
      seen.push(...(await reader.list({ after: seen.at(-1)?.id, limit: 1000 })));
      // Reads from memory would keep writers waiting that need the disk.
      if (pages % 20 === 0) await new Promise((resolve) => setTimeout(resolve));
    }
    await written;
    assert.deepEqual(seen, await listAll(reader));
    assert.equal(seen.length, 201, 'animals seen by the reader');
  },
};

/** Cases about several handles on one store: one after another, or at the same time. */
export const handleCases = [
  ...casesOf(DURABILITY, PARTS.durable),
  ...casesOf(SHARING, PARTS.shared),
  ...casesOf(DURABLE_CLAIMS, PARTS.claims, PARTS.durable),
  ...casesOf(SHARED_CLAIMS, PARTS.claims, PARTS.shared),
  ...casesOf(ORDERING, PARTS.ordered),
];
