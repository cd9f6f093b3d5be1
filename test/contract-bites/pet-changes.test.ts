import { setTimeout as delay } from 'node:timers/promises';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type { PetChanges } from '../../src/application/ports/pet-changes.js';
import type { PetRepository } from '../../src/application/ports/pet-repository.js';
import type { CompleteStore } from '../../src/application/ports/store.js';
import { UnavailableError } from '../../src/domain/errors.js';
import { savedPet } from '../../src/domain/pet.js';
import { PET_STATUSES } from '../../src/domain/pet-status.js';
import { petChangesContract } from '../contract/pet-changes-contract.js';
import { bites, faultsOf, handleOn, idleFaults, type Bites, type Fault } from './bites.js';

type Handle = 'first' | 'reopened' | 'another';

/** Parts that replace those of a store, on some of its handles. */
type StoreFault = (store: CompleteStore, handle: Handle) => Partial<CompleteStore>;

const changesFaults = faultsOf<PetChanges>();
const petsFaults = faultsOf<PetRepository>();

const inChanges =
  (fault: Fault<PetChanges>): StoreFault =>
  ({ changes }) => ({ changes: { ...operationsOf(changes), ...fault(changes) } });

const inPets =
  (fault: Fault<PetRepository>): StoreFault =>
  ({ pets }) => ({ pets: Object.assign(Object.create(pets) as PetRepository, fault(pets)) });

const operationsOf = (changes: PetChanges): PetChanges => ({
  changeStatus: (...given) => changes.changeStatus(...given),
  remove: (...given) => changes.remove(...given),
});

const later = async (): Promise<void> => {
  for (const _ of 'abc') await Promise.resolve();
};

/** Removes in one step what it found in another. */
const looksFirst: StoreFault = ({ changes, pets }) => ({
  changes: {
    ...operationsOf(changes),
    async remove(id, from, call) {
      const found = await pets.findById(id, call);
      await later();
      await changes.remove(id, from, call);
      return found !== undefined;
    },
  },
});

/** Changes in one step what it compared in another. */
const comparesFirst: StoreFault = ({ changes, pets }) => ({
  changes: {
    ...operationsOf(changes),
    async changeStatus(id, status, from, call) {
      const found = await pets.findById(id, call);
      await later();
      return changes.changeStatus(
        id,
        status,
        found && from.includes(found.status) ? PET_STATUSES : from,
        call,
      );
    },
  },
});

/** Stores the animal of a claim again if it is missing. */
const revives: StoreFault = ({ pets, transfer }) => ({
  pets: Object.assign(Object.create(pets) as PetRepository, {
    async add(...given: Parameters<typeof pets.add>) {
      const added = await pets.add(...given);
      if (added.replayed && !(await pets.findById(added.pet.id))) await transfer.writePets([added.pet]);
      return added;
    },
  }),
});

/** Knows at once that an animal was removed, but not that one is being removed. */
const revivesLate: StoreFault = ({ pets, transfer, changes }) => ({
  pets: Object.assign(Object.create(pets) as PetRepository, {
    async add(...given: Parameters<typeof pets.add>) {
      const added = await pets.add(...given);
      const isPresent = (await pets.findById(added.pet.id)) !== undefined;
      if (added.replayed) await delay(10);
      if (isPresent) await transfer.writePets([added.pet]);
      return added;
    },
  }),
  changes: {
    ...operationsOf(changes),
    remove: (...given) => delay(2).then(() => changes.remove(...given)),
  },
});

/** Shows every animal as it was added, on one of the handles. */
const forgetsChanges =
  (on: Handle): StoreFault =>
  (store, handle) =>
    handle === on
      ? inPets(
          petsFaults.returns({
            list: (page) => page.map((pet) => savedPet(pet.id, { ...pet, status: 'pending' })),
          }),
        )(store, handle)
      : {};

const broken: Bites<StoreFault> = {
  'changes the status of one animal, and nothing else': inChanges(
    changesFaults.returns({
      changeStatus: (pet) => pet && savedPet(pet.id, { ...pet, name: pet.name.trim() }),
    }),
  ),
  'changes any status to any, also to the same': inChanges(
    changesFaults.asks({
      changeStatus: (id, status, from, call) => [id, status, from.filter((each) => each !== status), call],
    }),
  ),
  'changes only from one of the statuses': inChanges(
    changesFaults.asks({ changeStatus: (id, status, _, call) => [id, status, PET_STATUSES, call] }),
  ),
  'and else names the one it is': inChanges(
    changesFaults.rejects({
      changeStatus(error) {
        throw Object.assign(error, { status: 'sold' });
      },
    }),
  ),
  'shows a change to the next read': inPets(petsFaults.remembers('findById', (_, age) => age < 100)),
  'returns frozen animals': inChanges(changesFaults.returns({ changeStatus: (pet) => pet && { ...pet } })),
  'keeps its own copy of the statuses': inChanges(changesFaults.late('changeStatus')),
  'removes one animal, once': inChanges(changesFaults.returns({ remove: () => true })),
  'finds no animal under an id that was never assigned': inChanges(
    changesFaults.asks({ remove: (id, ...rest) => [BigInt.asIntN(32, id), ...rest] }),
  ),
  // Numbers animals by how many there are.
  'never assigns the id of a removed animal again': inPets((pets) => ({
    async add(pet, options) {
      const added = await pets.add(pet, options);
      const id = BigInt((await pets.list({ limit: 1000 })).length);
      return { ...added, pet: savedPet(id, added.pet) };
    },
  })),
  // Reads the row of the animal.
  'replays a create as it was': inPets((pets) => ({
    async add(pet, options) {
      const added = await pets.add(pet, options);
      return { ...added, pet: (await pets.findById(added.pet.id)) ?? added.pet };
    },
  })),
  'whatever became of the animal': revives,
  // Looks before it inserts.
  'keeps a removed animal away from retries at the same time': revivesLate,
  'once the claim of a removed one has lapsed': inPets(
    petsFaults.asks({ add: (pet, options) => [pet, { ...options, now: new Date(0) }] }),
  ),
  'hands the claims of changed and removed animals to a copy': ({ transfer, pets }) => ({
    transfer: Object.assign(Object.create(transfer) as typeof transfer, {
      async readClaims(...given: Parameters<typeof transfer.readClaims>) {
        const claims = await transfer.readClaims(...given);
        const found = await Promise.all(claims.map(({ petId }) => pets.findById(petId)));
        return claims.filter((_, index) => found[index] !== undefined);
      },
    }),
  }),
  'lets exactly one of forty simultaneous changes': comparesFirst,
  'lets exactly one of forty simultaneous removals': looksFirst,
  // Stores a whole animal, as it was before.
  'ends a change beside a removal as if one came first': ({ changes, pets, transfer }) => ({
    changes: {
      ...operationsOf(changes),
      async changeStatus(id, status, from, call) {
        const changed = await changes.changeStatus(id, status, from, call);
        await later();
        if (changed && !(await pets.findById(id))) await transfer.writePets([changed]);
        return changed;
      },
    },
  }),
  // Sends a change again, because it takes the reply for lost.
  'applies each of many simultaneous changes of one animal once': inChanges((changes) => ({
    async changeStatus(id, status, from, call) {
      const changed = await changes.changeStatus(id, status, from, call);
      await later();
      if (from.includes('available')) await changes.changeStatus(id, status, from, call).catch(() => {});
      return changed;
    },
  })),
  // Refuses changes that would wait for one of its fifty connections.
  'takes 64 changes at once': inChanges((changes) => {
    let changing = 0;
    return {
      async remove(id, from, call) {
        if (changing === 30) throw new UnavailableError('removing an animal');
        changing += 1;
        await later();
        return changes.remove(id, from, call).finally(() => (changing -= 1));
      },
    };
  }),
  // Drops the start of a page while others change.
  'lists each animal that stays exactly once': ({ changes, pets }) => {
    let changing = 0;
    return {
      pets: Object.assign(Object.create(pets) as PetRepository, {
        list: async (...given: Parameters<typeof pets.list>) =>
          (await pets.list(...given)).slice(Math.min(1, changing)),
      }),
      changes: {
        ...operationsOf(changes),
        async remove(...given) {
          changing += 1;
          await new Promise((resolve) => setTimeout(resolve));
          return changes.remove(...given).finally(() => (changing -= 1));
        },
      },
    };
  },
  'rejects with service_unavailable after close: changeStatus': inChanges(
    changesFaults.alien('changeStatus'),
  ),
  'rejects with service_unavailable after close: remove': inChanges(
    changesFaults.rejects({ remove: () => false }),
  ),
  'rejects with the reason of an aborted signal, and changes nothing: changeStatus': inChanges(
    changesFaults.hasty('changeStatus'),
  ),
  'rejects with the reason of an aborted signal, and changes nothing: remove': inChanges(
    changesFaults.deaf('remove'),
  ),
  'has every change after closing and opening again': forgetsChanges('reopened'),
  'has every change in another handle': forgetsChanges('another'),
  'shows each change and removal at once': (store, handle) =>
    (handle === 'another'
      ? inPets(petsFaults.keepsSnapshot((pets) => pets.list({ limit: 100 })))
      : inChanges(changesFaults.slow('changeStatus', 'remove')))(store, handle),
};

const open =
  (fault: StoreFault = () => ({})) =>
  async () => {
    const memory = openMemoryStore();
    const handle = (name: Handle): CompleteStore => {
      const store = handleOn(memory);
      return { ...store, ...fault(store, name) };
    };
    const first = handle('first');
    return {
      ...first,
      async reopen() {
        await first.pets.close();
        return handle('reopened');
      },
      another: async () => handle('another'),
      dispose: () => memory.close(),
    };
  };

const idle = Object.entries(idleFaults<PetChanges>(openMemoryStore().changes));
bites(
  petChangesContract,
  open,
  broken,
  Object.fromEntries(idle.map(([name, fault]) => [name, inChanges(fault)])),
);
