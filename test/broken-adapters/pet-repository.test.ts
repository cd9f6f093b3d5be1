import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type { Claim } from '../../src/application/ports/pet-repository.js';
import type { CompleteStore } from '../../src/application/ports/store.js';
import { IdempotencyConflictError, IdempotencyKeyReusedError } from '../../src/domain/errors.js';
import { petWithId, type Pet, type UnsavedPet } from '../../src/domain/pet.js';
import { petRepositoryContract } from '../contract/store-contracts.js';
import {
  faultsOf,
  inFirst,
  inPort,
  keepsSnapshot,
  failsBrokenStores,
  type BrokenAdapters,
  type Fault,
  type HandleFaults,
} from './broken-adapters.js';

type PetRepository = CompleteStore['pets'];
type BrokenPets = BrokenAdapters<Fault<PetRepository>>;

const fault = faultsOf<PetRepository>();
const { asks, returns, slow, hasty, alien, remembers, elsewhere } = fault;

type Query = Parameters<PetRepository['list']>[0];

const listsOther = (change: (query: Query) => Query): Fault<PetRepository> =>
  asks({ list: (query) => [change(query)] });

const addsOther = (change: (pet: UnsavedPet) => Partial<UnsavedPet>): Fault<PetRepository> =>
  asks({ add: (pet) => [{ ...pet, ...change(pet) }] });

const claimsOther = (change: (claim: Claim, now: number) => Partial<Claim>): Fault<PetRepository> =>
  asks({ addOnce: (pet, claim, now) => [pet, { ...claim, ...change(claim, now) }] });

const claimsAt = (change: (now: number) => number): Fault<PetRepository> =>
  asks({ addOnce: (pet, claim, now) => [pet, claim, change(now)] });

const otherPets = (): PetRepository => openMemoryStore().pets;
const remembersAnimals = remembers('findById', (found) => found !== undefined);
const remembersAbsence = remembers('findById', (found) => found === undefined);
const forgetsClaims = claimsOther(({ scope }) => ({ scope: `another ${scope}` }));

const everything = (pets: PetRepository): Promise<readonly Pet[]> =>
  pets.list({ limit: Number.MAX_SAFE_INTEGER });

const reading: BrokenPets = {
  'returns every field of an animal, with the type that the port says, in every way to get one': [
    returns({ list: (page) => page.map((pet) => ({ ...pet, id: Number(pet.id) })) }),
    returns({
      findById: (pet) => pet && { id: pet.id, name: pet.name, categoryId: pet.categoryId },
    }),
  ],
  'shows a new animal to the next read, even one that found nothing or another list just before': [
    remembersAbsence,
    remembers('list', (_, times) => times === 0),
  ],
  'lists and finds nothing when the store is empty': [
    returns({ findById: (pet) => pet ?? null }),
    returns({ list: (page) => (page.length > 0 ? page : undefined) }),
  ],
  'lists in ascending order of id, and no more than the limit': [
    returns({ list: (page) => page.toReversed() }),
    listsOther((range) => ({ ...range, limit: range.limit + 1 })),
  ],
  'returns each of thousands of animals exactly once, page by page, while others add': [
    returns({ list: (page) => page.filter(({ id }) => id < 1000n) }),
    // Drops the start of a page while others write.
    (pets) => {
      let writers = 0;
      return {
        async add(pet, options) {
          writers += 1;
          await Promise.resolve();
          try {
            return await pets.add(pet, options);
          } finally {
            writers -= 1;
          }
        },
        list: async (range, call) => (await pets.list(range, call)).slice(Math.min(1, writers)),
      };
    },
  ],
  'lists the animals with a status, as many as the limit allows': listsOther((range) => ({
    ...range,
    status: undefined,
  })),
  'starts after the given id, whether or not an animal has it': listsOther(
    ({ after = 1n, ...range }) => ({
      ...range,
      after: after - 1n,
    }),
  ),
  'finds each animal by its own id, and none by an id that was not assigned': asks({
    findById: (id) => [BigInt.asIntN(32, id)],
  }),
};

const assignsLower = returns({
  add: (added) => petWithId(added.id - 1n, added),
});

const adding: BrokenPets = {
  'stores the categoryId exactly: 9007199254740993': addsOther(({ categoryId }) => ({
    categoryId: BigInt(Number(categoryId)),
  })),
  'stores the name exactly: leading and trailing spaces': addsOther(({ name }) => ({
    name: name.trim(),
  })),
  'stores the name exactly: 1,000 characters': addsOther(({ name }) => ({
    name: name.slice(0, 255),
  })),
  'stores the status exactly: sold': addsOther(() => ({ status: 'available' })),
  'assigns positive ids, each greater than every earlier one': assignsLower,
  // Takes the number of animals as the next id.
  'takes 64 adds at once, and stores each under an id of its own': [
    (pets) => ({
      async add(pet, call) {
        const id = BigInt((await everything(pets)).length + 1);
        return petWithId(id, await pets.add(pet, call));
      },
    }),
    fault.crowded('add', 50),
  ],
  'returns frozen animals, in a list that is not its own': [
    returns({ findById: (pet) => pet && { ...pet } }),
    remembers('list', () => true),
  ],
};

const ignoresClaims: Fault<PetRepository> = (pets) => ({
  addOnce: async (pet, _claim, _now, call) => ({ pet: await pets.add(pet, call), replayed: false }),
});

/** Looks in one step for what was added with a key, and adds in another. */
const looksFirst: Fault<PetRepository> = (pets) => {
  const made = new Map<string, readonly [Pet, fingerprint: string]>();
  return {
    async addOnce(given, claim) {
      const [earlier, fingerprint] = made.get(claim.key) ?? [];
      if (earlier && fingerprint !== claim.fingerprint) throw new IdempotencyKeyReusedError();
      if (earlier) return { pet: earlier, replayed: true };
      const pet = await pets.add(given);
      made.set(claim.key, [pet, claim.fingerprint]);
      return { pet, replayed: false };
    },
  };
};

/** Sees in one step that a claim has expired, and makes it again in another. */
const replacesExpiredBlindly: Fault<PetRepository> = (pets) => {
  let keepUntil = Infinity;
  return {
    async addOnce(pet, claim, now) {
      const hasExpired = keepUntil <= now;
      await Promise.resolve();
      const added = hasExpired
        ? { pet: await pets.add(pet), replayed: false }
        : await pets.addOnce(pet, claim, now);
      ({ keepUntil } = claim);
      return added;
    },
  };
};

const claiming: BrokenPets = {
  'takes 64 adds with claims at once, and stores each under an id of its own': fault.crowded(
    'addOnce',
    50,
  ),
  'stores one animal for a claim and replays it as it was created': ignoresClaims,
  'refuses a claim with another fingerprint, stores nothing, and still replays the first':
    claimsOther(() => ({ fingerprint: '' })),
  'separates scopes and keys that are equal when joined, folded, trimmed, cut or normalised': [
    claimsOther(() => ({ key: '' })),
    claimsOther(({ scope, key }) => ({ scope: '', key: `${scope}:${key}` })),
    claimsOther(({ scope }) => ({ scope: scope.slice(0, 254) })),
  ],
  'stores one animal for twenty simultaneous equal claims, and reports it as new at most once':
    looksFirst,
  'stores one animal for twenty simultaneous claims of one key with different fingerprints':
    looksFirst,
  'honours a claim until its keepUntil by `now`, whatever the clock of the machine says': claimsAt(
    (now) => Math.max(now, Date.now()),
  ),
  'forgets a claim at its keepUntil: a call with the same or another fingerprint creates': claimsAt(
    (now) => now - 1,
  ),
  'honours a claim until one millisecond before its keepUntil, which a replay does not prolong': [
    claimsAt((now) => now + 1),
    // Prolongs a claim by replaying it.
    (pets) => {
      let latest = 0;
      return {
        addOnce(pet, claim, now) {
          const isLive = now < latest;
          latest = claim.keepUntil;
          return pets.addOnce(pet, claim, isLive ? 0 : now);
        },
      };
    },
  ],
  // Never makes an expired claim again.
  'keeps a claim that was made again until the later keepUntil': (pets) => {
    let made = Infinity;
    return {
      async addOnce(pet, claim, now) {
        made = Math.min(made, claim.keepUntil);
        if (now < made) return pets.addOnce(pet, claim, now);
        return { pet: await pets.add(pet), replayed: false };
      },
    };
  },
  // Lets all claims expire after a day.
  'lets each of many claims expire at its own time, whatever the order in which they were made':
    claimsOther((_, now) => ({ keepUntil: now + 86_400_000 })),
  // Removes with an expired claim the one that was made again in its place.
  'keeps a claim that was made again while expired claims around it were still to be removed': (
    pets,
  ) => {
    let ends: readonly { readonly key: string; readonly keepUntil: number }[] = [];
    const removed = new Map<string, number>();
    return {
      async addOnce(pet, claim, now) {
        const { key, keepUntil } = claim;
        const expired = ends.filter((end) => end.keepUntil <= now).slice(0, 12);
        ends = ends.filter((end) => !expired.includes(end));
        for (const end of expired) removed.set(end.key, (removed.get(end.key) ?? 0) + 1);
        // In another scope, it is as good as removed.
        const kept = removed.has(key) ? { ...claim, scope: `scope ${removed.get(key)}` } : claim;
        const added = await pets.addOnce(pet, kept, now);
        if (!added.replayed) ends = [...ends, { key, keepUntil }];
        return added;
      },
    };
  },
};

/** Rejects with its own error what is in progress when it is closed, or aborted. */
const cutsOff: Fault<PetRepository> = (pets) => alien('list')({ ...pets, ...slow('list')(pets) });

const ending: BrokenPets = {
  ...fault.endings(['add', 'list'], { addOnce: hasty('addOnce'), findById: remembersAnimals }),
  'leaves no listener on the signal of a call that is over': (pets) => ({
    findById(id, call) {
      call?.signal?.addEventListener('abort', () => {}, { once: true });
      return pets.findById(id, call);
    },
  }),
  'resolves a read that is aborted in progress, or rejects it with the reason': cutsOff,
  // Keeps a claim in progress for ever whose add was aborted.
  'settles an add that is aborted in progress, stored or not, leaves other adds alone, and keeps its claim usable':
    [
      (pets) => {
        const inProgress = new Set<string>();
        return {
          async addOnce(pet, claim, now, { signal } = {}) {
            const { key } = claim;
            if (inProgress.has(key)) throw new IdempotencyConflictError();
            inProgress.add(key);
            await Promise.resolve();
            signal?.throwIfAborted();
            inProgress.delete(key);
            return pets.addOnce(pet, claim, now);
          },
        };
      },
      // Ends other adds with an aborted one.
      (pets) => {
        let aborted: AbortSignal | undefined;
        return {
          async addOnce(pet, claim, now, call) {
            aborted ??= call?.signal;
            await Promise.resolve();
            aborted?.throwIfAborted();
            return pets.addOnce(pet, claim, now, call);
          },
        };
      },
    ],
};

/** The animals that nobody may see yet. */
const hidden = new Set<bigint>();

const showsLater: Fault<PetRepository> = (pets) => ({
  async add(pet, call) {
    const added = await pets.add(pet, call);
    if (added.id % 5n !== 0n) return added;
    hidden.add(added.id);
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    hidden.delete(added.id);
    return added;
  },
  list: async (range, call) => (await pets.list(range, call)).filter(({ id }) => !hidden.has(id)),
});

const handles: BrokenAdapters<HandleFaults> = {
  'has every animal exactly as before after closing and opening again': {
    reopened: inPort('pets', elsewhere(otherPets, 'findById', 'list')),
  },
  'assigns greater ids after closing and opening again': {
    reopened: inPort('pets', elsewhere(otherPets, 'add')),
  },
  'replays every claim from before closing and opening again exactly, and refuses it for another fingerprint':
    {
      reopened: inPort(
        'pets',
        claimsOther(({ scope }) => ({ scope: scope.toLowerCase() })),
      ),
    },
  'replays every claim from another handle exactly, and refuses it for another fingerprint': {
    another: inPort('pets', forgetsClaims),
  },
  'stores one animal for twenty simultaneous claims of a key that has expired': {
    first: inPort('pets', replacesExpiredBlindly),
    another: inPort('pets', replacesExpiredBlindly),
  },
  'shows each animal at once to another handle that reads all the time and found nothing before': [
    {
      first: inPort('pets', slow('add')),
      another: inPort('pets', keepsSnapshot(everything)),
    },
    {
      another: inPort(
        'pets',
        remembers('list', () => true, 'add'),
      ),
    },
    { another: inPort('pets', remembersAbsence) },
  ],
  'shows no new animal with an id lower than one seen before, while twenty writers add': {
    first: inPort('pets', showsLater),
    another: inPort('pets', showsLater),
  },
  'assigns distinct ids to simultaneous writers on two handles': {
    another: inPort('pets', assignsLower),
  },
};

failsBrokenStores(petRepositoryContract, {
  ...inFirst('pets', { ...reading, ...adding, ...claiming, ...ending }),
  ...handles,
});
