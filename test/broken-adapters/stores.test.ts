import { setImmediate as turn } from 'node:timers/promises';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type { Claim } from '../../src/application/ports/pet-repository.js';
import type { CompleteStore } from '../../src/application/ports/store.js';
import { petWithId, type Pet, type UnsavedPet } from '../../src/domain/pet.js';
import { storeTests } from '../contract/index.js';
import { catches, type Broken, type BrokenAdapters } from './catches.js';

type Pets = CompleteStore['pets'];
type Query = Parameters<Pets['list']>[0];

type Handle = 'first' | 'reopened' | 'another';
type BrokenStore = Broken<CompleteStore, [handle: Handle]>;

/** A store of which one port is broken, in every handle. */
const brokenPort =
  <Name extends 'pets' | 'changes' | 'apiKeys' | 'transfer'>(
    name: Name,
    broken: Broken<CompleteStore[Name], [store: CompleteStore]>,
  ): BrokenStore =>
  (store) => ({ [name]: { ...store[name], ...broken(store[name], store) } });

// Broken adapters that change what passes through them.

const changedPet = (change: (pet: UnsavedPet) => Partial<UnsavedPet>): BrokenStore =>
  brokenPort('pets', (pets) => ({
    add: (pet, options) => pets.add({ ...pet, ...change(pet) }, options),
  }));

const changedQuery = (change: (query: Query) => Partial<Query>): BrokenStore =>
  brokenPort('pets', (pets) => ({
    list: (query, options) => pets.list({ ...query, ...change(query) }, options),
  }));

const changedList = (change: (pets: readonly Pet[]) => readonly Pet[]): BrokenStore =>
  brokenPort('pets', (pets) => ({ list: async (...given) => change(await pets.list(...given)) }));

const changedClaim = (
  change: (claim: Claim, now: number) => Partial<Claim & { now: number }>,
): BrokenStore =>
  brokenPort('pets', (pets) => ({
    addOnce(pet, claim, now, options) {
      const { now: at = now, ...changed } = change(claim, now);
      return pets.addOnce(pet, { ...claim, ...changed }, at, options);
    },
  }));

const cachedReads = (isKept: (found: Pet | undefined) => boolean): BrokenStore =>
  brokenPort('pets', (pets) => {
    const known = new Map<bigint, Pet | undefined>();
    return {
      async findById(id, options) {
        if (known.has(id)) return known.get(id);
        const found = await pets.findById(id, options);
        if (isKept(found)) known.set(id, found);
        return found;
      },
    };
  });

const BROKEN_STORES: BrokenAdapters<BrokenStore> = {
  'keeps every value exactly, under ascending ids, also after reopening': {
    'a Number in place of a bigint': changedPet(({ categoryId }) => ({
      categoryId: BigInt(Number(categoryId)),
    })),
    'a trimmed name': changedPet(({ name }) => ({ name: name.trim() })),
    'a name cut to 255 characters': changedPet(({ name }) => ({ name: name.slice(0, 255) })),
    'a store that is empty after reopening': (_, handle) =>
      handle === 'reopened' ? openMemoryStore() : {},
  },
  'lists what is after an id and has a status, in ascending order of id, up to the limit': {
    'a list in another order': changedList((pets) => pets.toReversed()),
    'one more than the limit': changedQuery(({ limit }) => ({ limit: limit + 1 })),
    'a list that begins at `after`': changedQuery(({ after = 1n }) => ({ after: after - 1n })),
    'a status that is ignored': changedQuery(() => ({ status: undefined })),
  },
  'finds no animal by an id that was not assigned': {
    'null for no animal': brokenPort('pets', (pets) => ({
      findById: async (...given) =>
        (await pets.findById(...given)) ?? (null as unknown as undefined),
    })),
  },
  'returns frozen animals, in an array that the caller may change': {
    'animals that are not frozen': changedList((pets) => pets.map((pet) => ({ ...pet }))),
  },
  'shows a new animal to the next read, even one that found nothing before': {
    'a cache of absence': cachedReads((found) => found === undefined),
  },
  'shows a new animal at once to another handle that is never idle': {
    'another handle that caches': (store, handle) =>
      handle === 'another' ? cachedReads((found) => found === undefined)(store, handle) : {},
  },
  'rejects aborted calls with the reason, stores nothing, and leaves no listener': {
    'an addOnce that ignores aborts': brokenPort('pets', (pets) => ({
      addOnce: (pet, claim, now) => pets.addOnce(pet, claim, now),
    })),
    'an add that checks the signal too late': brokenPort('pets', (pets) => ({
      async add(pet, options) {
        const added = await pets.add(pet);
        options?.signal?.throwIfAborted();
        return added;
      },
    })),
  },
  'rejects aborted calls with the reason, changes nothing, and leaves no listener': {
    'other ports that ignore aborts': ({ changes, apiKeys, transfer }) => ({
      changes: { ...changes, remove: (id, from) => changes.remove(id, from) },
      apiKeys: { ...apiKeys, revoke: (id, at) => apiKeys.revoke(id, at) },
      transfer: { ...transfer, writePets: (pets, last) => transfer.writePets(pets, last) },
    }),
  },
  'stores one animal for a claim and replays it as it was created, but not for another fingerprint':
    {
      'no claim': brokenPort('pets', (pets) => ({
        addOnce: async (pet) => ({ pet: await pets.add(pet), replayed: false }),
      })),
      'a fingerprint that is ignored': changedClaim(() => ({ fingerprint: '' })),
    },
  'separates scopes and keys that are equal when joined, folded, trimmed or cut, also after reopening':
    {
      'one scope for all claims': changedClaim(() => ({ scope: '' })),
    },
  'stores one animal for twenty simultaneous equal claims, and one more after they expire': {
    'a claim that is checked before it is made': brokenPort('pets', (pets) => ({
      async addOnce(pet) {
        const [earlier] = await pets.list({ limit: 1 });
        if (earlier) return { pet: earlier, replayed: true };
        await turn();
        return { pet: await pets.add(pet), replayed: false };
      },
    })),
  },
  'keeps a claim until keepUntil, compared with `now`: replays do not extend it': {
    'a claim that never expires': changedClaim(() => ({ now: 0 })),
    "a claim that expires by the machine's clock": changedClaim((_, now) => ({
      now: Math.max(now, Date.now()),
    })),
  },
  'changes the given fields of one animal alone, for every handle, also after reopening': {
    'a cache of animals': cachedReads((found) => found !== undefined),
  },
  'with `from`, changes and removes only an animal with that status; the error names the actual one':
    {
      'a change without its condition': brokenPort('changes', (changes) => ({
        change: (id, fields) => changes.change(id, fields, undefined),
      })),
    },
  'removes an animal once, for every handle, and never reuses its id, also after reopening': {
    'true for every removal': brokenPort('changes', (changes) => ({
      remove: async (...given) => (await changes.remove(...given)) || true,
    })),
    'ids that are counted after reopening': ({ pets, transfer }, handle) => {
      const add = async (pet: UnsavedPet) => {
        const { length } = await pets.list({ limit: 1000 });
        const added = petWithId(BigInt(length + 1), pet);
        await transfer.writePets([added], added.id);
        return added;
      };
      return handle === 'reopened' ? { pets: { ...pets, add } } : {};
    },
  },
  'replays a create after the animal was changed or removed, also after reopening': {
    'a claim that is removed with its animal': brokenPort('pets', (pets) => ({
      async addOnce(pet, ...given) {
        const added = await pets.addOnce(pet, ...given);
        if (await pets.findById(added.pet.id)) return added;
        return { pet: await pets.add(pet), replayed: false };
      },
    })),
  },
  'lets exactly one of forty simultaneous changes from one status succeed': {
    'a status that is checked before the change, not with it': brokenPort(
      'changes',
      (changes, store) => ({
        async change(id, fields, from) {
          const found = await store.pets.findById(id);
          await turn();
          return changes.change(id, fields, found?.status === from ? undefined : from);
        },
      }),
    ),
  },
  'keeps simultaneous changes of different fields, and removes an animal once beside them': {
    'a change that writes the whole animal': brokenPort('changes', (changes, store) => ({
      async change(id, fields, from) {
        const found = await store.pets.findById(id);
        await turn();
        return changes.change(id, { ...found, ...fields }, from);
      },
    })),
  },
  'keeps every value exactly, in ascending order of creation, also after reopening': {
    'an expiry that is not stored': brokenPort('apiKeys', (apiKeys) => ({
      add: (apiKey, options) => apiKeys.add({ ...apiKey, expiresAt: undefined }, options),
    })),
  },
  'shows a new or revoked key to the next read of every handle, by its exact id only': {
    'a revocation that is not stored': brokenPort('apiKeys', (apiKeys) => ({
      async revoke(id, revokedAt) {
        const found = await apiKeys.findById(id);
        return found && { ...found, revokedAt };
      },
    })),
  },
  'stores animals under their ids exactly, for every way of reading, also after reopening': {
    'ids that become Numbers': brokenPort('transfer', (transfer) => ({
      writePets: (pets, last) =>
        transfer.writePets(
          pets.map((pet) => petWithId(BigInt(Number(pet.id)), pet)),
          last,
        ),
    })),
  },
  'assigns greater ids after those that were reserved, also after reopening': {
    'ids that are not reserved': brokenPort('transfer', (transfer) => ({
      writePets: (pets) => transfer.writePets(pets, 0n),
    })),
  },
  'closes twice, and rejects every call of every port after it with service_unavailable': {
    'a store that works after close': () => ({ close: async () => {} }),
    "the database's own error": brokenPort('changes', (changes) => ({
      remove: (...given) =>
        changes.remove(...given).catch((cause: unknown) => {
          throw new TypeError('connection is closed', { cause });
        }),
    })),
  },
};

describe('The suites of a store', () =>
  catches(BROKEN_STORES, (runner, broken) => {
    const open = async () => {
      const memory = openMemoryStore();
      const as = (handle: Handle) => ({
        ...memory,
        ...broken?.(memory, handle),
      });
      return {
        store: as('first'),
        reopen: async () => as('reopened'),
        another: async () => as('another'),
        close: memory.close,
      };
    };
    storeTests({ ...runner, open });
  }));
