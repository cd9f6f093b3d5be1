import { assert } from '../assert.js';
import type { AnimalStore } from '../../../src/application/animal-store.js';
import { PET_STATUSES, type PetStatus } from '../../../src/domain/pet.js';
import { rejectsWithCode } from '../rejection.js';
import { alterations, truncations } from '../samples.js';
import { createAll, newPets, type AnimalStoreCase } from './subject.js';

async function cursorOf(animalStore: AnimalStore, status?: PetStatus): Promise<string> {
  const { next } = await animalStore.listPets({ limit: 1, status });
  assert.ok(next);
  return next;
}

async function refusesCursors(animalStore: AnimalStore, cursors: readonly string[]): Promise<void> {
  assert.ok(cursors.length > 0);
  for (const cursor of cursors) await rejectsWithCode(animalStore.listPets({ cursor }), 'invalid_cursor');
}

const ODD_CURSORS = [
  '',
  ' ',
  '0',
  '-1',
  '1',
  'null',
  'undefined',
  '\0',
  '\ud800',
  'é',
  '%',
  '%00',
  '&',
  '#',
  '../',
  'a b',
  '0'.repeat(26),
  'f'.repeat(26),
  'x'.repeat(4096),
];

export const pagingCases: readonly AnimalStoreCase[] = [
  {
    name: 'goes on with another limit than the page before had',
    async run({ animalStore }) {
      const created = await createAll(animalStore, newPets(12));
      const first = await animalStore.listPets({ limit: 2 });
      const second = await animalStore.listPets({ limit: 9, cursor: first.next });
      assert.deepEqual(second.pets, created.slice(2, 11));
      const third = await animalStore.listPets({ cursor: second.next });
      assert.deepEqual(third, { pets: created.slice(11) });
    },
  },
  {
    name: 'gives the same page for the same cursor again, and one that grows when animals are created',
    async run({ animalStore }) {
      const created = await createAll(animalStore, newPets(3));
      const cursor = await cursorOf(animalStore);
      assert.deepEqual(await animalStore.listPets({ cursor }), { pets: created.slice(1) });
      assert.deepEqual(await animalStore.listPets({ cursor }), { pets: created.slice(1) });
      const { pet } = await animalStore.createPet({ name: 'Fido', categoryId: 1n });
      assert.deepEqual(await animalStore.listPets({ cursor }), { pets: [...created.slice(1), pet] });
    },
  },
  {
    name: 'refuses a cursor in a list with another status filter than it was given for',
    async run({ animalStore }) {
      await createAll(animalStore, newPets(9));
      const filters = [undefined, ...PET_STATUSES];
      for (const given of filters) {
        const cursor = await cursorOf(animalStore, given);
        for (const status of filters) {
          const listing = animalStore.listPets({ status, cursor });
          if (status === given) await listing;
          else await rejectsWithCode(listing, 'invalid_cursor');
        }
      }
    },
  },
  {
    name: 'refuses a text that never was a cursor',
    run: ({ animalStore }) => refusesCursors(animalStore, ODD_CURSORS),
  },
  {
    name: 'refuses a cursor with any one character changed, left out, doubled or put in',
    async run({ animalStore }) {
      await createAll(animalStore, newPets(2));
      await refusesCursors(animalStore, alterations(await cursorOf(animalStore)));
    },
  },
  {
    name: 'refuses every truncation of a cursor, from either end',
    async run({ animalStore }) {
      await createAll(animalStore, newPets(2));
      const cursor = await cursorOf(animalStore);
      await refusesCursors(animalStore, truncations(cursor));
    },
  },
];
