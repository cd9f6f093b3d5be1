import { assert } from '../assert.js';
import { fullKey, sampleKey } from '../api-key-repository/subject.js';
import { anotherHandle, reopened } from '../handles.js';
import { sampleClaim } from '../pet-repository/claiming.js';
import { samplePet } from '../samples.js';
import {
  DURABLE,
  SHARED,
  petWithId,
  petsWithIds,
  readAllClaims,
  readAllPets,
  write,
  type CatalogueHandles,
  type CatalogueTransferCase,
} from './subject.js';

const { now: NOW, ...CLAIM } = sampleClaim();

async function fill({ transfer }: CatalogueHandles): Promise<void> {
  await transfer.reserveIds(99n);
  await write(transfer, petsWithIds(1n, 5n));
  await transfer.writeClaims([{ ...CLAIM, petId: 5n }]);
  await transfer.writeApiKeys([sampleKey(), fullKey()]);
}

async function assertFilled({ transfer, pets, keys }: CatalogueHandles): Promise<void> {
  assert.deepEqual(await readAllPets(transfer), petsWithIds(1n, 5n));
  assert.deepEqual(await readAllClaims(transfer, NOW), [{ ...CLAIM, petId: 5n }]);
  assert.deepEqual(await keys.findById('full'), fullKey());
  assert.equal((await transfer.readApiKeys()).length, 2);
  const replay = await pets.add(samplePet(), { claim: sampleClaim() });
  assert.deepEqual(replay, { pet: petWithId(5n), replayed: true });
  assert.ok((await pets.add(samplePet())).pet.id > 99n);
}

/** What outlives a handle: the same store opened again, and what other processes see of it. */
export const outlivingCases: readonly CatalogueTransferCase[] = [
  {
    name: 'has everything that was written and reserved after closing and opening again',
    needs: DURABLE,
    async run(subject) {
      await fill(subject);
      await assertFilled(await reopened(subject));
    },
  },
  {
    name: 'shows what was written and reserved to another handle as soon as it is answered',
    needs: SHARED,
    async run(subject) {
      const other = await anotherHandle(subject);
      await fill(subject);
      await assertFilled(other);
    },
  },
  {
    name: 'is the same store by every handle, if it says which',
    needs: SHARED,
    async run(subject) {
      const other = await anotherHandle(subject);
      const { store } = await subject.transfer.survey();
      assert.equal((await other.transfer.survey()).store, store);
      await fill(subject);
      assert.equal((await other.transfer.survey()).store, store);
    },
  },
  {
    name: 'has another revision when another handle writes',
    needs: SHARED,
    async run(subject) {
      const other = await anotherHandle(subject);
      const { revision } = await subject.transfer.survey();
      await other.pets.add(samplePet());
      const { revision: next } = await subject.transfer.survey();
      assert.notEqual(next, revision);
      await other.keys.add(sampleKey());
      assert.notEqual((await subject.transfer.survey()).revision, next);
    },
  },
];
