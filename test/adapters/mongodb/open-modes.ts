import { expect } from 'chai';
import type { OpenOptions, Store } from '../../../src/application/ports/store.js';
import { rejectionOf, rejectsWithCode } from '../../contract/rejection.js';
import { claimed, samplePet } from '../../contract/samples.js';

type Open = (options?: OpenOptions) => Promise<Store>;

/** The modes in which no store is created. */
const EXISTING = ['existing', 'read'] as const;

/** Creates the store with one animal. */
async function createOne(open: Open) {
  const created = await open();
  const pet = await created.pets.add(samplePet());
  await created.close();
  return pet;
}

/**
 * What the modes of a durable store promise.
 * @param place resolves to what opens the store at a place where none exists yet
 */
export function openModeTests(place: () => Promise<Open>): void {
  describe('opening', () => {
    it('rejects in one line where a store must exist and none does, and creates none', async () => {
      const open = await place();
      for (const mode of [...EXISTING, ...EXISTING]) {
        const { message } = (await rejectionOf(open({ mode }))) as Error;
        expect(message, mode).to.not.include('\n');
      }
    });

    it('opens a store that must exist once it holds an animal', async () => {
      const open = await place();
      const pet = await createOne(open);
      for (const mode of EXISTING) {
        const store = await open({ mode });
        expect(await store.pets.findById(pet.id), mode).to.deep.equal(pet);
        await store.close();
      }
    });

    it('refuses writes in an existing store that is only read, and reads on', async () => {
      const open = await place();
      const pet = await createOne(open);
      const reader = await open({ mode: 'read' });
      await rejectsWithCode(reader.pets.add(samplePet()), 'service_unavailable');
      await rejectsWithCode(reader.pets.addOnce(samplePet(), ...claimed()), 'service_unavailable');
      expect(await reader.pets.list({ limit: 5 })).to.deep.equal([pet]);
      await reader.close();
      const again = await open();
      expect(await again.pets.list({ limit: 5 })).to.deep.equal([pet]);
      await again.close();
    });
  });
}
