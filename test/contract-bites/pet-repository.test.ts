import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type {
  AddOptions,
  Claim,
  PetRange,
  PetRepository,
} from '../../src/application/ports/pet-repository.js';
import { IdempotencyConflictError } from '../../src/domain/errors.js';
import { savedPet, type Pet, type UnsavedPet } from '../../src/domain/pet.js';
import { petRepositoryContract } from '../contract/store-contracts.js';
import {
  faultsOf,
  inPort,
  keepsSnapshot,
  storeBites,
  type Bites,
  type Fault,
  type HandleFaults,
} from './bites.js';

type PetBites = Bites<Fault<PetRepository>>;

const { asks, returns, late, deaf, hasty, alien, crowded, slow, remembers, elsewhere } =
  faultsOf<PetRepository>();

const listsOther = (change: (range: PetRange) => PetRange): Fault<PetRepository> =>
  asks({ list: (range, call) => [change(range), call] });

const addsOther = (change: (pet: UnsavedPet) => Partial<UnsavedPet>): Fault<PetRepository> =>
  asks({ add: (pet, options) => [{ ...pet, ...change(pet) }, options] });

const addsWith = (change: (options: AddOptions) => AddOptions): Fault<PetRepository> =>
  asks({ add: (pet, options = {}) => [pet, change(options)] });

const claimsOther = (change: (claim: Claim) => Partial<Claim>): Fault<PetRepository> =>
  addsWith(({ claim, ...options }) => ({ ...options, claim: claim && { ...claim, ...change(claim) } }));

const addsAtOther = (milliseconds: number): Fault<PetRepository> =>
  addsWith(({ now, ...options }) => ({ ...options, now: now && new Date(now.getTime() + milliseconds) }));

const otherPets = (): PetRepository => openMemoryStore().pets;
const remembersAnimals = remembers('findById', (found) => found !== undefined);
const remembersAbsence = remembers('findById', (found) => found === undefined);
const forgetsClaims = claimsOther(({ scope }) => ({ scope: `another ${scope}` }));

const everything = (pets: PetRepository): Promise<readonly Pet[]> =>
  pets.list({ limit: Number.MAX_SAFE_INTEGER });

const reading: PetBites = {
  'with the type that the port says': returns({
    list: (page) => page.map((pet) => ({ ...pet, id: Number(pet.id) })),
  }),
  'every field of an animal': returns({
    findById: (pet) => pet && { id: pet.id, name: pet.name, categoryId: pet.categoryId },
  }),
  'to the next read, even one that found nothing or': remembersAbsence,
  'even one that found nothing or another list just before': remembers('list', (_, age) => age < 100),
  'lists in ascending order of id': returns({ list: (page) => page.toReversed() }),
  'no more than the limit': listsOther((range) => ({ ...range, limit: range.limit + 1 })),
  'each of thousands of animals exactly once': returns({
    list: (page) => page.filter(({ id }) => id < 1000n),
  }),
  'lists the animals with a status': listsOther((range) => ({ ...range, status: undefined })),
  'starts after the given id': listsOther(({ after = 1n, ...range }) => ({ ...range, after: after - 1n })),
  'finds each animal by its own id': asks({ findById: (id, call) => [BigInt.asIntN(32, id), call] }),
  // Drops the start of a page while others write.
  'of animals exactly once, page by page, while others add': (pets) => {
    let writers = 0;
    return {
      async add(pet, options) {
        writers += 1;
        await Promise.resolve();
        return pets.add(pet, options).finally(() => (writers -= 1));
      },
      list: async (range, call) => (await pets.list(range, call)).slice(Math.min(1, writers)),
    };
  },
};

const adding: PetBites = {
  'stores the categoryId exactly: 9007199254740993': addsOther(({ categoryId }) => ({
    categoryId: BigInt(Number(categoryId)),
  })),
  'stores the name exactly: leading and trailing spaces': addsOther(({ name }) => ({ name: name.trim() })),
  'stores the name exactly: 1,000 characters': addsOther(({ name }) => ({ name: name.slice(0, 255) })),
  'stores the status exactly: sold': addsOther(() => ({ status: 'available' })),
  'assigns positive ids': returns({
    add: (added) => ({ ...added, pet: savedPet(added.pet.id - 1n, added.pet) }),
  }),
  // Takes the number of animals as the next id.
  'takes 64 adds at once, with claims and without, and stores each under': (pets) => ({
    async add(pet, options) {
      const id = BigInt((await everything(pets)).length + 1);
      const added = await pets.add(pet, options);
      return { ...added, pet: savedPet(id, added.pet) };
    },
  }),
  'takes 64 adds at once': crowded('add', 50),
  'returns frozen animals': returns({ findById: (pet) => pet && { ...pet } }),
  'in a list that is not its own': remembers('list', () => true),
  'stores its own copy of an animal': late('add'),
};

/** Sees in one step that a claim has lapsed, and makes it again in another. */
const replacesLapsedBlindly: Fault<PetRepository> = (pets) => {
  let keepUntil = new Date(8.64e15);
  return {
    async add(pet, options = {}) {
      const { claim, now = new Date() } = options;
      const hasLapsed = keepUntil <= now;
      await Promise.resolve();
      const added = await pets.add(pet, hasLapsed ? { now } : options);
      if (claim) ({ keepUntil } = claim);
      return added;
    },
  };
};

const claiming: PetBites = {
  'stores one animal for a claim and replays it': addsWith((options) => ({ ...options, claim: undefined })),
  'refuses a claim with another fingerprint': claimsOther(() => ({ fingerprint: '' })),
  'separates scopes and keys': claimsOther(() => ({ key: '' })),
  'scopes and keys that are equal when joined': claimsOther(({ scope, key }) => ({
    scope: '',
    key: `${scope}:${key}`,
  })),
  'equal when joined, folded, trimmed, cut': claimsOther(({ scope }) => ({ scope: scope.slice(0, 254) })),
  // Looks for a claim in one step and makes it in another.
  'stores one animal for twenty simultaneous equal claims': (pets) => {
    const made = new Map<string, Pet>();
    return {
      async add(pet, { claim } = {}) {
        const earlier = made.get(JSON.stringify(claim));
        if (earlier) return { pet: earlier, replayed: true };
        const added = await pets.add(pet);
        made.set(JSON.stringify(claim), added.pet);
        return added;
      },
    };
  },
  'by `now`, whatever the clock of the machine says': addsWith(({ now = new Date(), ...options }) => ({
    ...options,
    now: new Date(Math.max(now.getTime(), Date.now())),
  })),
  'forgets a claim at its keepUntil': addsAtOther(-1),
  'honours a claim until one millisecond before': addsAtOther(1),
  'uses the clock of the machine': addsWith((options) => ({ now: new Date(0), ...options })),
  // Prolongs a claim by replaying it.
  'which a replay does not prolong': (pets) => {
    let latest = new Date(0);
    return {
      add(pet, options = {}) {
        const isLive = options.now !== undefined && options.now < latest;
        if (options.claim) latest = new Date(options.claim.keepUntil);
        return pets.add(pet, isLive ? { ...options, now: new Date(0) } : options);
      },
    };
  },
  // Never makes a lapsed claim again.
  'keeps a claim that was made again until the later keepUntil': (pets) => {
    let made = new Date(1e14);
    return {
      add(pet, { now = new Date(), ...options } = {}) {
        if (options.claim?.keepUntil && options.claim.keepUntil < made)
          made = new Date(options.claim.keepUntil);
        return pets.add(pet, now < made ? { now, ...options } : {});
      },
    };
  },
  // Lets all claims lapse after a day.
  'lets each of many claims lapse at its own time': addsWith(({ claim, now = new Date(), ...call }) => ({
    ...call,
    now,
    claim: claim && { ...claim, keepUntil: new Date(now.getTime() + 86_400_000) },
  })),
  // Removes with a lapsed claim the one that was made again in its place.
  'keeps a claim that was made again while lapsed claims': (pets) => {
    let ends: readonly { readonly key: string; readonly keepUntil: Date }[] = [];
    const removed = new Map<string, number>();
    return {
      async add(pet, { claim, now = new Date(), ...call } = {}) {
        if (claim === undefined) return pets.add(pet, call);
        const { key } = claim;
        const keepUntil = new Date(claim.keepUntil);
        const lapsed = ends.filter((end) => end.keepUntil <= now).slice(0, 12);
        ends = ends.filter((end) => !lapsed.includes(end));
        for (const end of lapsed) removed.set(end.key, (removed.get(end.key) ?? 0) + 1);
        // In another scope, it is as good as removed.
        const kept = removed.has(key) ? { ...claim, scope: `scope ${removed.get(key)}` } : claim;
        const added = await pets.add(pet, { ...call, now, claim: kept });
        if (!added.replayed) ends = [...ends, { key, keepUntil }];
        return added;
      },
    };
  },
};

const AFTER_CLOSE = 'rejects with service_unavailable after close';
const ABORTED = 'rejects with the reason of an aborted signal, known result or not, and changes nothing';

const ending: PetBites = {
  [`${AFTER_CLOSE}: list`]: alien('list'),
  // Closes only once.
  'closes twice': (pets) => {
    let closed = false;
    return {
      async close() {
        if (closed) throw new Error('closed already');
        closed = true;
        await pets.close();
      },
    };
  },
  'closes within 5 seconds': () => ({ close: () => new Promise(() => {}) }),
  'leaves no listener on the signal': (pets) => ({
    findById(id, call) {
      call?.signal?.addEventListener('abort', () => {}, { once: true });
      return pets.findById(id, call);
    },
  }),
  [`${ABORTED}: list`]: deaf('list'),
  [`${ABORTED}: findById`]: remembersAnimals,
  [`${ABORTED}: add with a claim`]: hasty('add'),
  'resolves a read that is aborted in progress': (pets) => alien('list')({ ...pets, ...late('list')(pets) }),
  // Keeps a claim in progress for ever whose add was aborted.
  'others go on, its claim can be made': (pets) => {
    const inProgress = new Set<string>();
    return {
      async add(pet, { claim, signal, ...options } = {}) {
        const { key = '' } = claim ?? {};
        if (inProgress.has(key)) throw new IdempotencyConflictError();
        if (claim) inProgress.add(key);
        await Promise.resolve();
        signal?.throwIfAborted();
        inProgress.delete(key);
        return pets.add(pet, { ...options, claim });
      },
    };
  },
  // Ends other adds with an aborted one.
  'ends an add that is aborted in progress': (pets) => {
    let aborted: AbortSignal | undefined;
    return {
      async add(pet, options) {
        aborted ??= options?.signal;
        await Promise.resolve();
        aborted?.throwIfAborted();
        return pets.add(pet, options);
      },
    };
  },
};

/** The animals that a store acknowledges and loses. */
const lost = new Set<bigint>();

const losesAtClose: Fault<PetRepository> = (pets) => {
  let closing = false;
  return {
    async add(pet, options) {
      const added = await pets.add(pet, options);
      if (closing) lost.add(added.pet.id);
      return added;
    },
    async close() {
      closing = true;
      await pets.close();
    },
  };
};

/** The animals that nobody may see yet. */
const hidden = new Set<bigint>();

const showsLater: Fault<PetRepository> = (pets) => ({
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

const handles: Bites<HandleFaults> = {
  'has every animal exactly as before': { reopened: { pets: elsewhere(otherPets, 'findById', 'list') } },
  'assigns greater ids after closing and opening again': { reopened: { pets: elsewhere(otherPets, 'add') } },
  'replays every claim from before closing and opening again exactly': {
    reopened: { pets: claimsOther(({ scope }) => ({ scope: scope.toLowerCase() })) },
  },
  'replays every claim from another handle': { another: { pets: forgetsClaims } },
  'has every animal whose add resolved while it was closing': {
    first: { pets: losesAtClose },
    reopened: { pets: returns({ findById: (pet, id) => (lost.has(id) ? undefined : pet) }) },
  },
  'simultaneous claims of a key that has lapsed': {
    first: { pets: replacesLapsedBlindly },
    another: { pets: replacesLapsedBlindly },
  },
  'shows each animal at once': { first: { pets: slow('add') }, another: { pets: keepsSnapshot(everything) } },
  'at once to another handle that reads all the time': {
    another: { pets: remembers('list', () => true, 'add') },
  },
  'reads all the time and found nothing before': { another: { pets: remembersAbsence } },
  'shows no new animal with an id lower than one seen before': {
    first: { pets: showsLater },
    another: { pets: showsLater },
  },
};

storeBites(petRepositoryContract, 'pets', {
  ...inPort('pets', { ...reading, ...adding, ...claiming, ...ending }),
  ...handles,
});
