import { expect } from 'chai';
import {
  createAnimalStore,
  savedPet,
  type CreatedPet,
  type Pet,
  type PetRange,
  type PetRepository,
  type UnsavedPet,
} from '../../src/index.js';

/** The least that is a store. */
function arrayPetRepository() {
  const stored: Pet[] = [];
  return {
    async add(pet: UnsavedPet): Promise<CreatedPet> {
      const saved = savedPet(BigInt(stored.length + 1), pet);
      stored.push(saved);
      return { pet: saved, replayed: false };
    },
    findById: async (id: bigint): Promise<Pet | undefined> => stored.find((pet) => pet.id === id),
    list: async ({ after = 0n, limit }: PetRange): Promise<readonly Pet[]> =>
      stored.filter(({ id }) => id > after).slice(0, limit),
    async check(): Promise<void> {},
    async close(): Promise<void> {},
  };
}

// The build fails where the compiler finds no error.
describe('The public types', () => {
  it('let the least adapter that is sound compile, and refuse one that is not', async () => {
    const sound = arrayPetRepository();
    const { pet } = await createAnimalStore({ pets: sound }).createPet({ name: 'Fido', categoryId: 1 });
    expect(pet.name).to.equal('Fido');
    // @ts-expect-error: an animal does not change
    expect(() => (pet.name = 'Rex')).to.throw(TypeError);
    const unsound: PetRepository[] = [
      // @ts-expect-error: its check is missing
      { ...sound, check: undefined },
      // @ts-expect-error: it does not say whether an add is a replay
      { ...sound, add: async (added: UnsavedPet) => ({ pet: savedPet(1n, added) }) },
      // @ts-expect-error: its ids are numbers
      { ...sound, findById: async (id: number) => savedPet(BigInt(id), pet) },
      // @ts-expect-error: it finds null
      { ...sound, findById: async () => null },
      // @ts-expect-error: it has a status of its own
      { ...sound, list: async ({ status }: { status: 'lost' }) => [{ ...pet, status }] },
    ];
    expect(unsound).to.have.length(5);
  });
});
