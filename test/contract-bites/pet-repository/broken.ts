import { MemoryPetRepository } from '../../../src/adapters/memory/memory-pet-repository.js';
import type { Claim, PetRepository } from '../../../src/application/ports/pet-repository.js';
import type { UnsavedPet } from '../../../src/domain/pet.js';
import type { PetRepositorySubject } from '../../contract/pet-repository-contract.js';
import type { Bite } from '../bites.js';

/** A handle on a memory that outlives it: stands for a store that is durable and shared. */
export function handleOn(memory: PetRepository): PetRepository {
  const closed = new MemoryPetRepository();
  let target = memory;
  return {
    capabilities: { durable: true, shared: true, ordered: true },
    add: (pet, options) => target.add(pet, options),
    findById: (id, call) => target.findById(id, call),
    list: (range, call) => target.list(range, call),
    check: (call) => target.check(call),
    async close() {
      await closed.close();
      target = closed;
    },
  };
}

/** Wraps a handle: what it returns takes the place of the handle's own operations. */
export type Fault = (pets: PetRepository) => Partial<PetRepository>;

const none: Fault = () => ({});

/** The same store by several handles, each with a fault of its own or none. */
export const subject =
  ({ first = none, again = none, other = none }: { first?: Fault; again?: Fault; other?: Fault }) =>
  async (): Promise<PetRepositorySubject> => {
    const memory = new MemoryPetRepository();
    const open = (fault: Fault): PetRepository => {
      const handle = handleOn(memory);
      return { ...handle, ...fault(handle) };
    };
    const pets = open(first);
    return {
      pets,
      async reopen() {
        await pets.close();
        return open(again);
      },
      another: async () => open(other),
      dispose: () => memory.close(),
    };
  };

export type PetRepositoryBite = Bite<PetRepositorySubject>;

export const broken = (that: string, caughtBy: string, fault: Fault): PetRepositoryBite => ({
  that,
  caughtBy,
  open: subject({ first: fault }),
});

export const addsOther =
  (change: (pet: UnsavedPet) => UnsavedPet): Fault =>
  (pets) => ({ add: (pet, options) => pets.add(change(pet), options) });

export const claimsOther =
  (change: (claim: Claim) => Claim): Fault =>
  (pets) => ({
    add: (pet, options = {}) => pets.add(pet, { ...options, claim: options.claim && change(options.claim) }),
  });

export const everything = { limit: Number.MAX_SAFE_INTEGER };
