import { expect } from 'chai';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import { bindContract, storeContracts, type StoreSubject } from '../contract/index.js';
import { rejectionOf } from '../contract/rejection.js';
import { claimedAt, samplePet } from '../contract/samples.js';

async function openSubject(): Promise<StoreSubject> {
  const store = openMemoryStore();
  return { ...store, ordered: true, dispose: () => store.close() };
}

describe('the store in memory', () => {
  for (const contract of storeContracts)
    bindContract(contract, openSubject, undefined, { without: ['durable', 'shared'] });

  it('is closed at the end of the block that declares it with `await using`', async () => {
    await using after = { ...openMemoryStore() };
    {
      await using store = after;
      await store.pets.add(samplePet());
    }

    expect(String(await rejectionOf(after.check()))).to.include('after close');
  });

  it('removes expired claims when another is made, so that they do not grow without end', async () => {
    const { pets, transfer } = openMemoryStore();
    for (const key of ['first', 'second', 'third'])
      await pets.addOnce(samplePet(), ...claimedAt(0, { key }));
    await pets.addOnce(samplePet(), ...claimedAt(48 * 3_600_000, { key: 'last' }));
    const kept = await transfer.readClaims({ limit: 10, now: 0 });

    expect(kept.map(({ key }) => key)).to.deep.equal(['last']);
  });
});
