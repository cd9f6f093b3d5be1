import { MemoryPetRepository } from '../../../src/adapters/memory/memory-pet-repository.js';
import { claimsOther, handleOn, subject, type Fault, type PetRepositoryBite } from './broken.js';

const forgetsClaims = claimsOther((claim) => ({ ...claim, scope: `another ${claim.scope}` }));

/** The one of each five animals that is not yet to be seen by anyone, by its id. */
const hidden = new Set<bigint>();

const showsLater: Fault = (pets) => ({
  async add(pet, options) {
    const added = await pets.add(pet, options);
    if (added.pet.id % 5n !== 0n) return added;
    hidden.add(added.pet.id);
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    hidden.delete(added.pet.id);
    return added;
  },
  list: async (range, call) => (await pets.list(range, call)).filter(({ id }) => !hidden.has(id)),
});

export const outliving: readonly PetRepositoryBite[] = [
  {
    that: 'has lost everything when it is opened again',
    caughtBy: 'has every animal exactly as it was after closing and opening again',
    open: subject({ again: () => handleOn(new MemoryPetRepository()) }),
  },
  {
    that: 'begins its ids again when it is opened again',
    caughtBy: 'goes on with greater ids after closing and opening again',
    open: subject({
      again: () => {
        const fresh = new MemoryPetRepository();
        return { add: (pet, options) => fresh.add(pet, options) };
      },
    }),
  },
  {
    that: 'has lost its claims when it is opened again',
    caughtBy: 'replays a claim that was made before closing and opening again',
    open: subject({ again: forgetsClaims }),
  },
  {
    that: 'answers for animals that it loses when it is closed',
    caughtBy: 'has every animal that was answered for while it was closing',
    async open() {
      const lost = new Set<bigint>();
      let closing = false;
      return subject({
        first: (pets) => ({
          async add(pet, options) {
            const added = await pets.add(pet, options);
            if (closing) lost.add(added.pet.id);
            return added;
          },
          async close() {
            closing = true;
            await pets.close();
          },
        }),
        again: (pets) => ({
          findById: async (id, call) => (lost.has(id) ? undefined : pets.findById(id, call)),
        }),
      })();
    },
  },
  {
    that: 'declares itself durable and brings no way to open it again',
    caughtBy: 'has every animal exactly as it was after closing and opening again',
    open: async () => {
      const { pets, dispose } = await subject({})();
      return { pets, dispose };
    },
  },
  {
    that: 'has a handle that reads what was there when it was opened',
    caughtBy: 'shows an animal to another handle as soon as its add is answered',
    open: subject({ other: () => ({ findById: async () => undefined }) }),
  },
  {
    that: 'counts ids by handle',
    caughtBy: 'gives distinct ids to simultaneous writers on two handles',
    open: subject({ other: () => handleOn(new MemoryPetRepository()) }),
  },
  {
    that: 'keeps claims by handle',
    caughtBy: 'replays a claim that was made through another handle, and refuses it for another fingerprint',
    open: subject({ other: forgetsClaims }),
  },
  {
    that: 'takes ids by handle from blocks, and declares itself ordered',
    caughtBy: 'gives each animal an id greater than all before, whichever handle adds it',
    open: subject({
      other: () => {
        const block = new MemoryPetRepository();
        return { add: (pet, options) => block.add(pet, options) };
      },
    }),
  },
  {
    that: 'shows an animal later than one with a greater id, and declares itself ordered',
    caughtBy: 'shows no animal with an id lower than one seen before, while twenty writers add',
    open: subject({ first: showsLater, other: showsLater }),
  },
  {
    that: 'closes every handle with one',
    caughtBy: 'goes on when another handle is closed',
    open: async () => {
      const { pets, dispose, ...rest } = await subject({})();
      return { ...rest, pets, dispose, another: async () => ({ ...pets }) };
    },
  },
];
