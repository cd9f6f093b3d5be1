import { expect } from 'chai';
import { createAnimalStore, savedPet, type PetRepository, type UnsavedPet } from '../../src/index.js';

/** The least that is a store. */
const sound: PetRepository = {
  add: async (pet) => ({ pet: savedPet(1n, pet), replayed: false }),
  findById: async () => undefined,
  list: async () => [],
  check: async () => {},
  close: async () => {},
};

// The build fails where the compiler finds no error.
describe('The public types', () => {
  it('let the least adapter that is sound compile, and refuse one that is not', async () => {
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
