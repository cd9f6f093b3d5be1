import { setTimeout as delay } from 'node:timers/promises';
import type { PetChanges } from '../../src/application/ports/pet-changes.js';
import type { CompleteStore } from '../../src/application/ports/store.js';
import { petWithId, type Pet } from '../../src/domain/pet.js';
import { PET_STATUSES } from '../../src/domain/pet-status.js';
import { petChangesContract } from '../contract/pet-changes-contract.js';
import {
  faultsOf,
  inFirst,
  inPort,
  keepsSnapshot,
  failsBrokenStores,
  together,
  type BrokenAdapters,
  type HandleFaults,
  type PortFault,
} from './broken-adapters.js';
import { comparesFirst, comparesStatusAlone, writesWholeAnimals } from './change-faults.js';

const { asks, returns, rejects, hasty, crowded, slow, endings } = faultsOf<PetChanges>();
const inPets = faultsOf<CompleteStore['pets']>();

type ChangesFault = PortFault<'changes'>;
type PetsFault = PortFault<'pets'>;

const later = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
};

/** Removes in one step what it found in another. */
const looksFirst: ChangesFault = (changes, { pets }) => ({
  async remove(id, from, call) {
    const found = await pets.findById(id, call);
    await later();
    await changes.remove(id, from, call);
    return found !== undefined;
  },
});

/** Stores the animal of a claim again if it is missing. */
const revives: PetsFault = (pets, { transfer }) => ({
  async addOnce(...given) {
    const added = await pets.addOnce(...given);
    if (added.replayed && !(await pets.findById(added.pet.id)))
      await transfer.writePets([added.pet]);
    return added;
  },
});

/** Knows at once that an animal was removed, but not that one is being removed. */
const revivesLate: PetsFault = (pets, { transfer }) => ({
  async addOnce(...given) {
    const added = await pets.addOnce(...given);
    const isPresent = (await pets.findById(added.pet.id)) !== undefined;
    if (added.replayed) await delay(10);
    if (isPresent) await transfer.writePets([added.pet]);
    return added;
  },
});

/** Shows every animal as it was added. */
const forgetsChanges = inPets.returns({
  list: (page) => page.map((pet) => petWithId(pet.id, { ...pet, status: 'pending' })),
});

const everything = (pets: CompleteStore['pets']): Promise<readonly Pet[]> =>
  pets.list({ limit: 100 });

const changing: BrokenAdapters<ChangesFault> = {
  'changes the given fields of one animal, and nothing else': [
    returns({ change: (pet) => pet && petWithId(pet.id, { ...pet, name: pet.name.trim() }) }),
    asks({ change: (id, { name: _name, ...others }) => [id, others] }),
  ],
  'changes and removes an animal only while every field is as it was read': [
    comparesStatusAlone,
    asks({ remove: (id) => [id, PET_STATUSES] }),
  ],
  'keeps simultaneous changes of different fields': writesWholeAnimals,
  'lets exactly one of forty simultaneous changes of an animal as it was read succeed':
    comparesFirst,
  'changes any status to any, also to the same': asks({
    change: (id, change) => [id, change, PET_STATUSES.filter((status) => status !== change.status)],
  }),
  'changes only from one of the statuses, and else names the one it is': [
    asks({ change: (id, change) => [id, change, PET_STATUSES] }),
    rejects({
      change(error) {
        throw Object.assign(error, { status: 'sold' });
      },
    }),
  ],
  'returns frozen animals': returns({ change: (pet) => pet && { ...pet } }),
  'removes one animal, once': returns({ remove: () => true }),
  'finds no animal under an id that was never assigned': asks({
    remove: (id) => [BigInt.asIntN(32, id)],
  }),
  'lets exactly one of forty simultaneous changes from one status succeed': comparesFirst,
  'lets exactly one of forty simultaneous removals find the animal': looksFirst,
  // Stores a whole animal, as it was before.
  'ends a change beside a removal as if one came first': (changes, { pets, transfer }) => ({
    async change(id, ...given) {
      const changed = await changes.change(id, ...given);
      await later();
      if (changed && !(await pets.findById(id))) await transfer.writePets([changed]);
      return changed;
    },
  }),
  // Sends a change again, because it takes the reply for lost.
  'applies each of many simultaneous changes of one animal once': (changes) => ({
    async change(...given) {
      const changed = await changes.change(...given);
      await later();
      if (given[1].status === 'pending') await changes.change(...given).catch(() => {});
      return changed;
    },
  }),
  'takes 64 changes at once, beside adds': crowded('remove', 30),
  ...endings(['remove'], { change: hasty('change') }),
};

/** What a repository may do wrong once its animals change. */
const reading: BrokenAdapters<PetsFault> = {
  'shows a change to the next read, even one that saw the animal just before': inPets.remembers(
    'findById',
    (_, times) => times === 0,
  ),
  // Numbers animals by how many there are.
  'never assigns the id of a removed animal again': (pets) => ({
    async add(pet, call) {
      const added = await pets.add(pet, call);
      return petWithId(BigInt((await pets.list({ limit: 1000 })).length), added);
    },
  }),
  // Reads the row of the animal.
  'replays a create as it was, whatever became of the animal': [
    (pets) => ({
      async addOnce(...given) {
        const added = await pets.addOnce(...given);
        return { ...added, pet: (await pets.findById(added.pet.id)) ?? added.pet };
      },
    }),
    revives,
  ],
  'adds another animal once the claim of a removed one has expired': inPets.asks({
    addOnce: (pet, claim) => [pet, claim, 0],
  }),
};

/** The number of animals that are being removed. */
let removals = 0;

const handles: BrokenAdapters<HandleFaults> = {
  // Looks before it inserts.
  'keeps a removed animal away from retries at the same time': {
    first: together(inPort('pets', revivesLate), inPort('changes', slow('remove'))),
  },
  'hands the claims of changed and removed animals to a copy': {
    first: inPort('transfer', (transfer, { pets }) => ({
      async readClaims(...given) {
        const claims = await transfer.readClaims(...given);
        const found = await Promise.all(claims.map(({ petId }) => pets.findById(petId)));
        return claims.filter((_, index) => found[index] !== undefined);
      },
    })),
  },
  'replays a copied claim whose animal was removed before': {
    first: inPort('transfer', (transfer, { pets }) => ({
      async writeClaims(claims, call) {
        const found = await Promise.all(claims.map(({ petId }) => pets.findById(petId)));
        const kept = claims.filter((_, index) => found[index] !== undefined);
        await transfer.writeClaims(kept, call);
      },
    })),
  },
  // Drops the start of a page while others change.
  'lists each animal that stays exactly once, page by page, while others change or go': {
    first: together(
      inPort('pets', inPets.returns({ list: (page) => page.slice(Math.min(1, removals)) })),
      inPort('changes', (changes) => ({
        async remove(...given) {
          removals += 1;
          await delay(1);
          try {
            return await changes.remove(...given);
          } finally {
            removals -= 1;
          }
        },
      })),
    ),
  },
  'has every change after closing and opening again, with its claim, and assigns no removed id': {
    reopened: inPort('pets', forgetsChanges),
  },
  'has every change in another handle, with its claim, and assigns no removed id': {
    another: inPort('pets', forgetsChanges),
  },
  'shows each change and removal at once to another handle that reads all the time': [
    {
      first: inPort('changes', slow('change')),
      another: inPort('pets', keepsSnapshot(everything)),
    },
    // Sees changes at once, and removals late.
    {
      first: inPort('changes', slow('remove')),
      another: inPort(
        'pets',
        keepsSnapshot(everything, (stored, kept) => stored ?? kept),
      ),
    },
  ],
};

failsBrokenStores(petChangesContract, {
  ...inFirst('changes', changing),
  ...inFirst('pets', reading),
  ...handles,
});
