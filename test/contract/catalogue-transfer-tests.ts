import { petWithId, type Pet, type UnsavedPet } from '../../src/domain/pet.js';
import assert from 'node:assert/strict';
import { FULL_PET, TRICKY_PETS, samplePet, times } from './samples.js';
import { checkAborts } from './store-operations.js';
import { storeCases, type StoreSubject } from './store-cases.js';
import type { PortSuite } from './store-suite.js';
import { checkReads, listAll } from './stored-animals.js';

const MAX_GIVEN_ID = 2n ** 63n - 2n ** 32n - 1n;

/** Ids at which doubles and int32 first go wrong, and the greatest. */
const GREAT_IDS = [2n ** 31n, 2n ** 32n + 1n, 2n ** 53n + 1n, MAX_GIVEN_ID];

const examplePet = (id: bigint, fields?: Partial<UnsavedPet>): Pet =>
  petWithId(id, { ...FULL_PET, name: `Pet ${id}`, categoryId: -id, ...fields });

const petsWithIds = (...ids: readonly bigint[]): Pet[] => ids.map((id) => examplePet(id));

async function write({ transfer }: StoreSubject, pets: readonly Pet[]): Promise<void> {
  const lastId = pets.reduce((last, { id }) => (id > last ? id : last), 0n);
  await transfer.writePets(pets, lastId);
}

/** The clauses of `CatalogueTransfer`. `open` resolves to a store, or to `{ pets, transfer }`. */
export function catalogueTransferTests(suite: PortSuite): void {
  const test = storeCases(suite)('pets', 'transfer');

  suite.describe('CatalogueTransfer', () => {
    test('stores animals under their ids exactly, for every way of reading, also after reopening', async (subject) => {
      const given = TRICKY_PETS.map((pet, index) => petWithId(BigInt(index + 1), pet));
      const stored = [...given, ...petsWithIds(...GREAT_IDS)];

      await write(subject, stored);

      const { pets } = await subject.reopen();
      await checkReads(pets, stored);
      for (const [index, pet] of stored.entries()) {
        const next = stored.slice(index + 1, index + 2);
        assert.deepEqual(await pets.list({ after: pet.id, limit: 1 }), next, `after ${pet.id}`);
      }
    });

    test('stores every animal of a batch of 1,001, in any order, also below stored ids', async (subject) => {
      const ids = times(1001, BigInt);
      await write(subject, petsWithIds(2000n));

      await subject.transfer.writePets(petsWithIds(...ids.toReversed()), 2000n);

      const first = await subject.pets.list({ limit: 1000 });
      const rest = await subject.pets.list({ after: first.at(-1)?.id, limit: 1000 });
      const found = [...first, ...rest];
      // The ids first: to show how a thousand animals differ takes seconds.
      assert.equal(found.map(({ id }) => id).join(), [...ids, 2000n].join());
      assert.deepEqual(found, petsWithIds(...ids, 2000n));
    });

    test('skips animals whose id is taken, and stores the rest of the batch', async (subject) => {
      const { pets, transfer } = subject;
      const pet = await pets.add(samplePet({ name: 'Bella' }));
      const ids = [pet.id + 1n, pet.id + 2n];
      const batch = petsWithIds(pet.id, ...ids);
      await write(subject, batch);
      const last = examplePet(pet.id + 3n);
      const again = [...batch, last, { ...last, name: 'later' }];
      await Promise.all(times(2, () => transfer.writePets(again, last.id)));

      assert.deepEqual(await listAll(pets), [pet, ...petsWithIds(...ids), last]);
    });

    test('assigns greater ids after those that were reserved, also after reopening', async (subject) => {
      const { pets, transfer } = subject;
      await pets.add(samplePet()); // a handle may have taken a block of ids
      for (const last of [2n, 41n, 2n ** 32n, 2n ** 53n + 1n, MAX_GIVEN_ID]) {
        await transfer.writePets([], last);
        await transfer.writePets([], 1n); // a smaller lastId changes nothing
        assert.ok((await transfer.lastId()) >= last, `lastId after ${last}`);
        const { id } = await pets.add(samplePet());
        assert.ok(id > last, `${id} was assigned, though ids up to ${last} were reserved`);
      }
      const { pets: again } = await subject.reopen();
      const { id } = await again.add(samplePet());
      assert.ok(id > MAX_GIVEN_ID, `${id} was assigned after reopening`);
    });

    test('rejects aborted calls with the reason, changes nothing, and leaves no listener', (subject) =>
      checkAborts(subject, 'transfer'));
  });
}
