import { expect } from 'chai';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import { storeTests } from '../contract/index.js';
import { rejectionOf } from '../contract/rejection.js';
import { claimedAt, samplePet } from '../contract/samples.js';

const open = async () => openMemoryStore();

describe('the store in memory', () => {
  storeTests({ describe, it, open, without: ['reopen', 'another'] });

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
    for (const key of ['first', 'second'])
      await pets.addOnce(samplePet(), ...claimedAt(0, { key }));
    await pets.addOnce(samplePet(), ...claimedAt(48 * 3_600_000, { key: 'last' }));
    const kept = await transfer.readClaims({ limit: 10, now: 0 });

    expect(kept.map(({ key }) => key)).to.deep.equal(['last']);
  });

  it('removes expired claims behind one that is kept for a year', async () => {
    const { pets, transfer } = openMemoryStore();
    const [forAYear, start] = claimedAt(0, { key: 'a year' });
    const keepUntil = start + 365 * 24 * 3_600_000;
    await pets.addOnce(samplePet(), { ...forAYear, keepUntil }, start);
    for (let hour = 1; hour <= 1000; hour += 1)
      await pets.addOnce(samplePet(), ...claimedAt(hour * 3_600_000, { key: `${hour}` }));
    const kept = await transfer.readClaims({ limit: 2000, now: 0 });

    expect(kept.map(({ key }) => key)).to.include('a year');
    expect(kept, 'claims after 1,000 creates, of which 25 are live').to.have.length.below(100);
  });
});
