import { assert } from '../assert.js';
import type { AnimalStore } from '../../../src/application/animal-store.js';
import { PET_STATUSES, type PetStatus } from '../../../src/domain/pet.js';
import { rejectsWithCode } from '../rejection.js';
import { alterations } from '../texts.js';
import { createAll, newPets, type AnimalStoreCase } from './subject.js';

async function cursorOf(store: AnimalStore, status?: PetStatus): Promise<string> {
  const { next } = await store.listPets({ limit: 1, status });
  assert.ok(next);
  return next;
}

async function refusesCursors(store: AnimalStore, cursors: readonly string[]): Promise<void> {
  assert.ok(cursors.length > 0);
  for (const cursor of cursors) await rejectsWithCode(store.listPets({ cursor }), 'invalid_cursor');
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
    async run({ store }) {
      const created = await createAll(store, newPets(12));
      const first = await store.listPets({ limit: 2 });
      const second = await store.listPets({ limit: 9, cursor: first.next });
      assert.deepEqual(second.pets, created.slice(2, 11));
      const third = await store.listPets({ cursor: second.next });
      assert.deepEqual(third, { pets: created.slice(11) });
    },
  },
  {
    name: 'gives the same page for the same cursor again, and one that grows when animals are created',
    async run({ store }) {
      const created = await createAll(store, newPets(3));
      const cursor = await cursorOf(store);
      assert.deepEqual(await store.listPets({ cursor }), { pets: created.slice(1) });
      assert.deepEqual(await store.listPets({ cursor }), { pets: created.slice(1) });
      const { pet } = await store.createPet({ name: 'Fido', categoryId: 1n });
      assert.deepEqual(await store.listPets({ cursor }), { pets: [...created.slice(1), pet] });
    },
  },
  {
    name: 'refuses a cursor in a list with another status filter than it was given for',
    async run({ store }) {
      await createAll(store, newPets(9));
      const filters = [undefined, ...PET_STATUSES];
      for (const given of filters) {
        const cursor = await cursorOf(store, given);
        for (const status of filters) {
          const listing = store.listPets({ status, cursor });
          if (status === given) await listing;
          else await rejectsWithCode(listing, 'invalid_cursor');
        }
      }
    },
  },
  {
    name: 'refuses a text that never was a cursor',
    run: ({ store }) => refusesCursors(store, ODD_CURSORS),
  },
  {
    name: 'refuses a cursor with any one character changed, left out, doubled or put in',
    async run({ store }) {
      await createAll(store, newPets(2));
      await refusesCursors(store, alterations(await cursorOf(store)));
    },
  },
  {
    name: 'refuses every truncation of a cursor, from either end',
    async run({ store }) {
      await createAll(store, newPets(2));
      const cursor = await cursorOf(store);
      const truncations = Array.from(cursor, (_, index) => [cursor.slice(0, index), cursor.slice(index + 1)]);
      await refusesCursors(store, truncations.flat());
    },
  },
];
