import { MemoryApiKeyRepository } from '../../src/adapters/memory/memory-api-key-repository.js';
import type { ApiKeyRecord, ApiKeyRepository } from '../../src/application/ports/api-key-repository.js';
import {
  apiKeyRepositoryContract,
  type ApiKeyRepositorySubject,
} from '../contract/api-key-repository-contract.js';
import { bites, type Bite } from './bites.js';

/** A handle on a memory that outlives it: stands for a store that is durable and shared. */
function handleOn(memory: ApiKeyRepository): ApiKeyRepository {
  const closed = new MemoryApiKeyRepository();
  let target = memory;
  return {
    add: (key, call) => target.add(key, call),
    findById: (id, call) => target.findById(id, call),
    list: (call) => target.list(call),
    update: (id, change, call) => target.update(id, change, call),
    async close() {
      await closed.close();
      target = closed;
    },
  };
}

/** Wraps a handle: what it returns takes the place of the handle's own operations. */
type Fault = (keys: ApiKeyRepository) => Partial<ApiKeyRepository>;

const none: Fault = () => ({});

const subject =
  ({ first = none, again = none, other = none }: { first?: Fault; again?: Fault; other?: Fault }) =>
  async (): Promise<ApiKeyRepositorySubject> => {
    const memory = new MemoryApiKeyRepository();
    const open = (fault: Fault): ApiKeyRepository => {
      const handle = handleOn(memory);
      return { ...handle, ...fault(handle) };
    };
    const keys = open(first);
    return {
      keys,
      async reopen() {
        await keys.close();
        return open(again);
      },
      another: async () => open(other),
      dispose: () => memory.close(),
    };
  };

const broken = (that: string, caughtBy: string, fault: Fault): Bite<ApiKeyRepositorySubject> => ({
  that,
  caughtBy,
  open: subject({ first: fault }),
});

const keeping: readonly Bite<ApiKeyRepositorySubject>[] = [
  broken(
    'keeps times in seconds',
    'keeps times exact to the millisecond: 1970-01-01T00:00:00.999Z',
    (keys) => ({
      add: (key, call) =>
        keys.add({ ...key, createdAt: new Date(Math.floor(key.createdAt.getTime() / 1000) * 1000) }, call),
    }),
  ),
  broken('gives undefined for what is absent', 'keeps absent what is absent', (keys) => ({
    async findById(id, call) {
      const key = await keys.findById(id, call);
      return key && { ...key, expiresAt: key.expiresAt };
    },
  })),
  broken('keeps no empty list of scopes', 'keeps the scopes []', (keys) => ({
    add: (key, call) =>
      keys.add({ ...key, scopes: key.scopes.length > 0 ? key.scopes : ['pets:read'] }, call),
  })),
  broken(
    'folds the case of ids',
    'finds no key under an id that none has, and says so without an error',
    (keys) => ({ findById: (id, call) => keys.findById(id.toLowerCase(), call) }),
  ),
  broken(
    'answers true for an id that is taken',
    'refuses an id that is taken by answering false, and changes nothing',
    (keys) => ({
      async add(key, call) {
        await keys.add(key, call);
        return true;
      },
    }),
  ),
  broken(
    'replaces the key whose id is taken',
    'refuses an id that is taken by answering false, and changes nothing',
    (keys) => ({
      async add(key, call) {
        const added = await keys.add(key, call);
        if (!added) await keys.update(key.id, () => key);
        return added;
      },
    }),
  ),
  broken(
    'rejects when an id is taken',
    'refuses an id that is taken by answering false, and changes nothing',
    (keys) => ({
      async add(key, call) {
        if (!(await keys.add(key, call))) throw new Error('duplicate key');
        return true;
      },
    }),
  ),
  broken(
    'looks whether an id is taken in one step and adds in another',
    'lets one of twenty simultaneous adds have an id, and keeps that one',
    (keys) => ({
      async add(key, call) {
        if (await keys.findById(key.id, call)) return false;
        await keys.add(key, call);
        return true;
      },
    }),
  ),
  broken(
    'lists the newest first',
    'lists in ascending order of the times of creation, whatever the order of the adds',
    (keys) => ({ list: async (call) => (await keys.list(call)).toReversed() }),
  ),
  broken(
    'lists in the order of a dictionary',
    'lists keys of one time in the order of the code units of their ids',
    (keys) => ({
      list: async (call) =>
        (await keys.list(call)).toSorted(
          (one, other) =>
            one.createdAt.getTime() - other.createdAt.getTime() || one.id.localeCompare(other.id, 'en'),
        ),
    }),
  ),
];

const copies: readonly Bite<ApiKeyRepositorySubject>[] = [
  broken(
    'reads the key that it is given late',
    'keeps its own copy of a key: changing the one given changes nothing, even before the answer',
    (keys) => ({
      async add(key, call) {
        await Promise.resolve();
        return keys.add(key, call);
      },
    }),
  ),
  broken(
    'gives the dates that it keeps',
    'gives copies, dates and scopes included: changing a result changes nothing that is kept',
    (keys) => {
      const kept = new Map<string, Date>();
      return {
        async findById(id, call) {
          const key = await keys.findById(id, call);
          if (key === undefined) return undefined;
          const createdAt = kept.get(id) ?? key.createdAt;
          kept.set(id, createdAt);
          return { ...key, createdAt };
        },
      };
    },
  ),
  broken(
    'gives what the change returned',
    'keeps its own copy of what a change returns, and gives another one',
    (keys) => ({
      async update(id, change, call) {
        let returned: ApiKeyRecord | undefined;
        await keys.update(id, (key) => (returned = change(key)), call);
        return returned;
      },
    }),
  ),
];

const updating: readonly Bite<ApiKeyRepositorySubject>[] = [
  broken(
    'answers an update with the key as it was',
    'updates a key, and answers with it as it is now',
    (keys) => ({
      async update(id, change, call) {
        const before = await keys.findById(id);
        await keys.update(id, change, call);
        return before;
      },
    }),
  ),
  broken(
    'reads in one step and writes in another',
    'lets each of twenty simultaneous updates take effect once',
    (keys) => ({
      async update(id, change, call) {
        const before = await keys.findById(id, call);
        if (before === undefined) return undefined;
        const changed = change(before);
        return keys.update(id, () => changed, call);
      },
    }),
  ),
  broken(
    'merges what an update returns with what there was',
    'removes what an update leaves out or makes undefined',
    (keys) => ({
      update: (id, change, call) =>
        keys.update(id, (key) => ({ ...structuredClone(key), ...change(key) }), call),
    }),
  ),
  broken(
    'lets an update change the hash',
    'keeps the id, the hash and the time of creation, whatever an update makes of them',
    (keys) => {
      const hashes = new Map<string, string>();
      return {
        async update(id, change, call) {
          const key = await keys.update(
            id,
            (before) => {
              const changed = change(before);
              hashes.set(id, changed.hash);
              return changed;
            },
            call,
          );
          return key && { ...key, hash: hashes.get(id) ?? key.hash };
        },
      };
    },
  ),
  broken(
    'rejects an update of an id that no key has',
    'answers an update of an id that no key has with undefined, and calls no change',
    (keys) => ({
      async update(id, change, call) {
        const key = await keys.update(id, change, call);
        if (key === undefined) throw new Error('no such key');
        return key;
      },
    }),
  ),
  broken(
    'wraps what the change throws',
    'rejects with what the change throws, and changes nothing',
    (keys) => ({
      update: (id, change, call) =>
        keys.update(id, change, call).catch((cause: unknown) => {
          throw new Error('the update failed', { cause });
        }),
    }),
  ),
  broken(
    'keeps what a change did before it threw',
    'rejects with what the change throws, and changes nothing',
    (keys) => ({
      async update(id, change, call) {
        let thrown: unknown;
        const key = await keys.update(
          id,
          (before) => {
            try {
              return change(before);
            } catch (error) {
              thrown = error;
              return before;
            }
          },
          call,
        );
        if (thrown instanceof Error) throw thrown;
        return key;
      },
    }),
  ),
];

const outliving: readonly Bite<ApiKeyRepositorySubject>[] = [
  broken('goes on after close', 'rejects with service_unavailable after close: update', () => ({
    close: async () => {},
  })),
  broken(
    'lets an error of its technology out',
    'rejects with service_unavailable after close: list',
    (keys) => ({
      list: (call) =>
        keys.list(call).catch((cause: unknown) => {
          throw new TypeError('connection is closed', { cause });
        }),
    }),
  ),
  broken(
    'ignores an aborted signal when it updates',
    'rejects with the reason of a signal that is aborted already, and changes nothing: update',
    (keys) => ({ update: (id, change) => keys.update(id, change) }),
  ),
  {
    that: 'has lost everything when it is opened again',
    caughtBy: 'has every key exactly as it was after closing and opening again',
    open: subject({ again: () => handleOn(new MemoryApiKeyRepository()) }),
  },
  {
    that: 'has a handle that remembers what it has read',
    caughtBy: 'shows an added and a changed key to another handle as soon as the call is answered',
    open: subject({
      other(keys) {
        const read = new Map<string, ApiKeyRecord>();
        return {
          async findById(id, call) {
            const key = read.get(id) ?? (await keys.findById(id, call));
            if (key) read.set(id, key);
            return key;
          },
        };
      },
    }),
  },
  {
    that: 'has a handle that does not see which ids are taken',
    caughtBy: 'refuses an id that is taken through another handle',
    open: subject({ other: () => handleOn(new MemoryApiKeyRepository()) }),
  },
  {
    that: 'has a handle that updates what it has read before',
    caughtBy: 'lets each of twenty simultaneous updates through two handles take effect once',
    open: subject({
      other: (keys) => ({
        async update(id, change, call) {
          const before = await keys.findById(id, call);
          await Promise.resolve();
          return keys.update(id, (key) => change(before ?? key), call);
        },
      }),
    }),
  },
];

bites(apiKeyRepositoryContract, subject({}), [...keeping, ...copies, ...updating, ...outliving]);
