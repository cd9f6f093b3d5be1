import { savedPet, type Pet, type UnsavedPet } from '../../../src/domain/pet.js';
import { addsOther, broken, everything, type PetRepositoryBite } from './broken.js';

/** The animal with its id as a number, which no compiler would let by. */
const numbered = (pet: Pet): Pet => Object.freeze({ ...pet, id: Number(pet.id) as unknown as bigint });

export const adding: readonly PetRepositoryBite[] = [
  broken(
    'gives ids as numbers when it lists',
    'gives ids and categoryIds as bigints, never as numbers or text',
    (pets) => ({ list: async (range, call) => (await pets.list(range, call)).map(numbered) }),
  ),
  broken(
    'sends a categoryId through a number',
    'keeps a categoryId of 9007199254740993 to the digit',
    addsOther((pet) => ({ ...pet, categoryId: BigInt(Number(pet.categoryId)) })),
  ),
  broken(
    'keeps a categoryId without its sign',
    'keeps a categoryId of -1 to the digit',
    addsOther((pet) => ({ ...pet, categoryId: BigInt.asUintN(64, pet.categoryId) })),
  ),
  broken(
    'trims names',
    'keeps a name with leading and trailing spaces exactly',
    addsOther((pet) => ({ ...pet, name: pet.name.trim() })),
  ),
  broken(
    'normalises names',
    'keeps a name with a combining mark (NFD) exactly',
    addsOther((pet) => ({ ...pet, name: pet.name.normalize() })),
  ),
  broken(
    'cuts names after 255 characters',
    'keeps a name with 10,000 characters exactly',
    addsOther((pet) => ({ ...pet, name: pet.name.slice(0, 255) })),
  ),
  broken(
    'drops the status',
    'keeps the status sold',
    addsOther((pet) => ({ ...pet, status: 'available' })),
  ),
  broken('counts from 0', 'gives each animal a positive id, greater than every one before', (pets) => ({
    async add(pet, options) {
      const added = await pets.add(pet, options);
      return { ...added, pet: savedPet(added.pet.id - 1n, added.pet) };
    },
  })),
  broken(
    'takes the number of animals for the next id',
    'gives twenty simultaneous writers twenty ids, each with its own animal',
    (pets) => ({
      async add(pet, options) {
        const id = BigInt((await pets.list(everything)).length + 1);
        const added = await pets.add(pet, options);
        return { ...added, pet: savedPet(id, added.pet) };
      },
    }),
  ),
  broken('takes equal animals for one', 'keeps two equal animals as two when there is no claim', (pets) => ({
    async add(pet, options) {
      const same = (await pets.list(everything)).find(({ name }) => name === pet.name);
      return same ? { pet: same, replayed: false } : pets.add(pet, options);
    },
  })),
  broken(
    'shows an animal only to the second read',
    'shows an animal to every read that begins after the answer',
    (pets) => {
      let stale: readonly Pet[] = [];
      return {
        async list(range, call) {
          const earlier = stale;
          stale = await pets.list(range, call);
          return earlier;
        },
      };
    },
  ),
];

export const copies: readonly PetRepositoryBite[] = [
  broken('gives animals that are not frozen', 'gives frozen animals', (pets) => ({
    findById: async (id, call) => {
      const pet = await pets.findById(id, call);
      return pet && { ...pet };
    },
  })),
  broken(
    'gives the object that it keeps',
    'gives results that can be changed without changing what is kept',
    (pets) => {
      const kept = new Map<bigint, Pet>();
      return {
        async findById(id, call) {
          const pet = kept.get(id) ?? (await pets.findById(id, call));
          const unfrozen = pet && (kept.get(id) ?? { ...pet });
          if (unfrozen) kept.set(id, unfrozen);
          return unfrozen;
        },
      };
    },
  ),
  broken(
    'keeps the object that it is given',
    'keeps its own copy of an animal: changing the one given changes nothing, even before the answer',
    (pets) => {
      const given = new Map<bigint, UnsavedPet>();
      return {
        async add(pet, options) {
          const added = await pets.add(pet, options);
          given.set(added.pet.id, pet);
          return added;
        },
        async findById(id, call) {
          const found = await pets.findById(id, call);
          return found && savedPet(id, given.get(id) ?? found);
        },
      };
    },
  ),
  broken(
    'reads the dates of a claim late',
    'keeps its own copy of a claim: changing its dates changes nothing, even before the answer',
    (pets) => ({
      async add(pet, options) {
        const copy = { ...pet };
        await Promise.resolve();
        return pets.add(copy, options);
      },
    }),
  ),
];
