import { expect } from 'chai';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import { storeTests } from '../contract/index.js';
import { rejectionOf } from '../contract/rejection.js';
import { samplePet } from '../contract/samples.js';

const open = async () => openMemoryStore();

describe('The store in memory', () => {
  storeTests({ describe, it, open, without: ['reopen', 'another'] });

  it('is closed at the end of the block that declares it with `await using`', async () => {
    await using after = { ...openMemoryStore() };
    {
      await using store = after;
      await store.pets.add(samplePet());
    }

    expect(String(await rejectionOf(after.check()))).to.include('after close');
  });
});
