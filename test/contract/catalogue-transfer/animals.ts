import { assert } from '../assert.js';
import type { Pet } from '../../../src/domain/pet.js';
import { INT64_MAX } from '../../../src/domain/int64.js';
import { INT64_EDGES, TRICKY_NAMES, samplePet, times } from '../samples.js';
import { petWithId, petsWithIds, readAllPets, write, type CatalogueTransferCase } from './subject.js';

/** Ids at which a number, a double or an int32 goes wrong first. */
const GREAT_IDS = [2n ** 31n, 2n ** 32n + 1n, 2n ** 53n + 1n, INT64_MAX - 1n];

/** Animals with everything that a store may get wrong, ascending by id. */
const trickyPets = (): Pet[] => [
  ...INT64_EDGES.map((categoryId, index) => petWithId(BigInt(index + 1), { categoryId, status: 'sold' })),
  ...Object.values(TRICKY_NAMES).map((name, index) =>
    petWithId(BigInt(index + 101), { name, status: 'pending' }),
  ),
  ...petsWithIds(...GREAT_IDS),
];

export const animalCases: readonly CatalogueTransferCase[] = [
  {
    name: 'reads every animal that was added, exactly and in ascending order of the ids',
    async run({ transfer, pets }) {
      const added: Pet[] = [];
      for (const name of Object.values(TRICKY_NAMES)) added.push((await pets.add(samplePet({ name }))).pet);
      for (const categoryId of INT64_EDGES) added.push((await pets.add(samplePet({ categoryId }))).pet);
      assert.deepEqual(await readAllPets(transfer), added);
    },
  },
  {
    name: 'reads in batches of the limit, each behind the one before, whatever gaps the ids have',
    async run({ transfer }) {
      const kept = petsWithIds(1n, 2n, 5n, 6n, 7n, 100n, 2n ** 53n, 2n ** 53n + 1n);
      await write(transfer, kept);
      const read: Pet[] = [];
      for (let after = 0n; ; after = read.at(-1)?.id ?? after) {
        const batch = await transfer.readPets({ after, limit: 3 });
        assert.equal(batch.length, Math.min(3, kept.length - read.length));
        if (batch.length === 0) break;
        read.push(...batch);
      }
      assert.deepEqual(read, kept);
      assert.deepEqual(await transfer.readPets({ after: 3n, limit: 2 }), kept.slice(2, 4));
      assert.deepEqual(await transfer.readPets({ after: INT64_MAX, limit: 2 }), []);
    },
  },
  {
    name: 'keeps written animals under their ids, exactly, for every way of reading',
    async run({ transfer, pets }) {
      const kept = trickyPets();
      await write(transfer, kept);
      assert.deepEqual(await readAllPets(transfer), kept);
      assert.deepEqual(await pets.list({ limit: 1000 }), kept);
      assert.deepEqual(
        await pets.list({ limit: 1000, status: 'sold' }),
        kept.filter(({ status }) => status === 'sold'),
      );
      for (const pet of kept) assert.deepEqual(await pets.findById(pet.id), pet);
    },
  },
  {
    name: 'keeps a batch whatever the order of its ids, and one below what is there',
    async run({ transfer, pets }) {
      await write(transfer, petsWithIds(9n, 7n, 8n));
      await write(transfer, petsWithIds(3n, 10n, 1n));
      const kept = petsWithIds(1n, 3n, 7n, 8n, 9n, 10n);
      assert.deepEqual(await readAllPets(transfer), kept);
      assert.deepEqual(await pets.list({ limit: 1000 }), kept);
    },
  },
  {
    name: 'keeps a batch once that is written again, whole or in part, also at the same time',
    async run({ transfer }) {
      const kept = petsWithIds(...times(20, BigInt));
      await write(transfer, kept.slice(0, 10));
      await write(transfer, kept.slice(0, 10));
      await transfer.reserveIds(20n);
      await Promise.all([transfer.writePets(kept.slice(5)), transfer.writePets(kept.slice(5))]);
      assert.deepEqual(await readAllPets(transfer), kept);
      assert.equal((await transfer.survey()).pets, 20);
    },
  },
  {
    name: 'leaves an animal whose id is taken as it is, and keeps the rest of the batch',
    async run({ transfer, pets }) {
      const { pet } = await pets.add(samplePet({ name: 'Bella' }));
      await transfer.reserveIds(pet.id + 2n);
      await transfer.writePets(petsWithIds(pet.id + 1n, pet.id, pet.id + 2n));
      assert.deepEqual(await readAllPets(transfer), [pet, ...petsWithIds(pet.id + 1n, pet.id + 2n)]);
    },
  },
  {
    name: 'keeps its own copy of a batch: changing what was given or read changes nothing',
    async run({ transfer }) {
      const given = [{ ...petWithId(1n) }, { ...petWithId(2n) }];
      await transfer.reserveIds(2n);
      const writing = transfer.writePets(given);
      for (const pet of given.splice(0)) Object.assign(pet, { id: 7n, name: 'spoiled' });
      await writing;
      const read = await readAllPets(transfer);
      for (const pet of read) Reflect.set(pet, 'name', 'spoiled');
      Reflect.set(read, 'length', 0);
      assert.deepEqual(await readAllPets(transfer), petsWithIds(1n, 2n));
    },
  },
  {
    name: 'reads nothing where there is nothing, and writes an empty batch',
    async run({ transfer }) {
      await transfer.writePets([]);
      assert.deepEqual(await readAllPets(transfer), []);
    },
  },
];
