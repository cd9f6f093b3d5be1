import { MemoryDeprecatedCallRepository } from '../../src/adapters/memory/memory-deprecated-call-repository.js';
import type {
  DeprecatedCallRepository,
  DeprecatedCalls,
} from '../../src/application/ports/deprecated-call-repository.js';
import {
  deprecatedCallRepositoryContract,
  type DeprecatedCallRepositorySubject,
} from '../contract/deprecated-call-repository-contract.js';
import { bites, type Bite } from './bites.js';

/** A handle on a memory that outlives it: stands for a store that is durable and shared. */
function handleOn(memory: DeprecatedCallRepository): DeprecatedCallRepository {
  const closed = new MemoryDeprecatedCallRepository();
  let target = memory;
  return {
    record: (batch, call) => target.record(batch, call),
    list: (query, call) => target.list(query, call),
    async close() {
      await closed.close();
      target = closed;
    },
  };
}

/** Wraps a handle: what it returns takes the place of the handle's own operations. */
type Fault = (counts: DeprecatedCallRepository) => Partial<DeprecatedCallRepository>;

const none: Fault = () => ({});

const subject =
  ({ first = none, again = none, other = none }: { first?: Fault; again?: Fault; other?: Fault }) =>
  async (): Promise<DeprecatedCallRepositorySubject> => {
    const memory = new MemoryDeprecatedCallRepository();
    const open = (fault: Fault): DeprecatedCallRepository => {
      const handle = handleOn(memory);
      return { ...handle, ...fault(handle) };
    };
    const counts = open(first);
    return {
      counts,
      async reopen() {
        await counts.close();
        return open(again);
      },
      another: async () => open(other),
      dispose: () => memory.close(),
    };
  };

const broken = (that: string, caughtBy: string, fault: Fault): Bite<DeprecatedCallRepositorySubject> => ({
  that,
  caughtBy,
  open: subject({ first: fault }),
});

/** Changes each count on its way into the store. */
const written =
  (change: (counted: DeprecatedCalls) => DeprecatedCalls): Fault =>
  (counts) => ({
    record: ({ id, counts: given }, call) => counts.record({ id, counts: given.map(change) }, call),
  });

const bytesOf = ({ day, operationId, keyId }: DeprecatedCalls): Buffer =>
  Buffer.from([day, operationId, keyId].join('\0'));

/** Changes the list on its way out. */
const listed =
  (change: (all: readonly DeprecatedCalls[]) => readonly DeprecatedCalls[]): Fault =>
  (counts) => ({ list: async (query, call) => change(await counts.list(query, call)) });

const keeping: readonly Bite<DeprecatedCallRepositorySubject>[] = [
  broken(
    'keeps times in seconds',
    'keeps the time of the last call exact to the millisecond: 1970-01-01T00:00:00.999Z',
    written((counted) => ({
      ...counted,
      lastAt: new Date(Math.floor(counted.lastAt.getTime() / 1000) * 1000),
    })),
  ),
  broken(
    'counts in 32 bits',
    'keeps the number of calls exactly: 4294967297',
    written((counted) => ({ ...counted, calls: Math.trunc(counted.calls) | 0 })),
  ),
  broken(
    'cuts the id of a key at U+0000',
    'keeps the id of a key with U+0000 in it exactly',
    written((counted) => ({ ...counted, keyId: counted.keyId.split('\0', 1)[0] ?? '' })),
  ),
  broken(
    'replaces lone surrogates',
    'keeps the id of a key with a lone surrogate in it exactly',
    written((counted) => ({ ...counted, keyId: counted.keyId.toWellFormed() })),
  ),
  broken(
    'trims the name of an operation',
    'keeps the name of an operation exactly, whatever is in it',
    written((counted) => ({ ...counted, operationId: counted.operationId.trim() })),
  ),
  broken('refuses a batch without counts', 'takes a batch without counts, and keeps nothing', (counts) => ({
    async record(batch, call) {
      if (batch.counts.length === 0) throw new Error('a bulk needs an operation');
      await counts.record(batch, call);
    },
  })),
  broken(
    'reads the batch that it is given late',
    'keeps its own copy of a batch: changing the one given changes nothing, even before the answer',
    (counts) => ({
      async record(batch, call) {
        await Promise.resolve();
        return counts.record(batch, call);
      },
    }),
  ),
  broken(
    'gives the dates that it keeps',
    'gives copies, dates included: changing a result changes nothing that is kept',
    () => {
      const kept: DeprecatedCalls[] = [];
      return {
        record: async ({ counts }) => void kept.push(...structuredClone([...counts])),
        list: async () => [...kept],
      };
    },
  ),
];

const adding: readonly Bite<DeprecatedCallRepositorySubject>[] = [
  broken('keeps the last number of calls only', 'adds to what was counted before', () => {
    const kept = new Map<string, DeprecatedCalls>();
    return {
      async record({ counts }) {
        for (const counted of counts) kept.set(counted.keyId, counted);
      },
      list: async () => [...kept.values()],
    };
  }),
  broken(
    'keeps the time that came last, not the latest',
    'keeps the later last call, in whatever order they come',
    (counts) => {
      const last = new Map<string, Date>();
      return {
        async record(batch, call) {
          for (const { keyId, lastAt } of batch.counts) last.set(keyId, lastAt);
          await counts.record(batch, call);
        },
        list: async (query, call) =>
          (await counts.list(query, call)).map((counted) =>
            Object.assign(counted, { lastAt: last.get(counted.keyId) ?? counted.lastAt }),
          ),
      };
    },
  ),
  broken(
    'tells keys apart without their case',
    'counts each day, each operation and each key by itself, however alike they are',
    written((counted) => ({ ...counted, keyId: counted.keyId.toLowerCase() })),
  ),
  broken(
    'joins operation and key to one text',
    'counts each day, each operation and each key by itself, however alike they are',
    (counts) => {
      const first = new Map<string, DeprecatedCalls>();
      return written((counted) => {
        const text = `${counted.day}${counted.operationId}${counted.keyId}`;
        const { operationId, keyId } = first.get(text) ?? counted;
        first.set(text, first.get(text) ?? counted);
        return { ...counted, operationId, keyId };
      })(counts);
    },
  ),
  broken('takes a hundred counts at most', 'adds batches of three hundred counts', (counts) => ({
    record: ({ id, counts: given }, call) => counts.record({ id, counts: given.slice(0, 100) }, call),
  })),
  broken(
    'reads in one step and writes in another',
    'counts every one of twenty simultaneous batches, those that count for the first time too',
    () => {
      let calls = 0;
      return {
        async record({ counts: [counted] }) {
          const before = calls;
          await Promise.resolve();
          calls = before + (counted?.calls ?? 0);
        },
        list: async () => [
          {
            day: '2026-11-20',
            operationId: 'getPet',
            keyId: '4fZk02Qa',
            calls,
            lastAt: new Date('2026-11-20T10:00:00.123Z'),
          },
        ],
      };
    },
  ),
];

const listing: readonly Bite<DeprecatedCallRepositorySubject>[] = [
  broken(
    'lists the newest day first',
    'lists by day, then by operation, then by key, both in the order of code units',
    listed((all) => all.toReversed()),
  ),
  broken(
    'lists in the order of code points',
    'lists by day, then by operation, then by key, both in the order of code units',
    listed((all) => all.toSorted((one, other) => Buffer.compare(bytesOf(one), bytesOf(other)))),
  ),
  broken(
    'leaves out the day that is asked for',
    'lists the day asked for and later ones, and no other',
    (counts) => ({
      list: async (query = {}, call) =>
        (await counts.list(query, call)).filter(({ day }) => day !== query.since),
    }),
  ),
  broken(
    'lists every day whatever is asked for',
    'lists the day asked for and later ones, and no other',
    (counts) => ({ list: (_, call) => counts.list({}, call) }),
  ),
];

const repeating: readonly Bite<DeprecatedCallRepositorySubject>[] = [
  broken(
    'goes on with a batch that was given up, and does not know it again',
    'adds a batch once that was given up in the middle, and given again',
    (counts) => ({
      record: (batch, { signal } = {}) =>
        new Promise((resolve, reject) => {
          signal?.throwIfAborted();
          signal?.addEventListener('abort', () => reject(signal.reason));
          setImmediate(() => void counts.record(batch).then(resolve, reject));
        }),
    }),
  ),
  broken(
    'takes a batch that it refused for done',
    'adds a batch once that was refused for its signal, with others in between',
    (counts) => {
      const seen = new Set<string>();
      return {
        async record(batch, call) {
          if (seen.has(batch.id)) return;
          seen.add(batch.id);
          await counts.record(batch, call);
        },
      };
    },
  ),
];

const outliving: readonly Bite<DeprecatedCallRepositorySubject>[] = [
  broken('goes on after close', 'rejects with service_unavailable after close: record', () => ({
    close: async () => {},
  })),
  broken(
    'lets an error of its technology out',
    'rejects with service_unavailable after close: list',
    (counts) => ({
      list: (query, call) =>
        counts.list(query, call).catch((cause: unknown) => {
          throw new TypeError('connection is closed', { cause });
        }),
    }),
  ),
  broken(
    'ignores an aborted signal when it counts',
    'rejects with the reason of a signal that is aborted already, and changes nothing: record',
    (counts) => ({ record: (batch) => counts.record(batch) }),
  ),
  {
    that: 'has lost everything when it is opened again',
    caughtBy: 'has every count exactly as it was after closing and opening again, and adds to it',
    open: subject({ again: () => handleOn(new MemoryDeprecatedCallRepository()) }),
  },
  {
    that: 'has a handle that remembers what it has listed',
    caughtBy: 'shows what was added to another handle as soon as the call is answered',
    open: subject({
      other(counts) {
        let remembered: readonly DeprecatedCalls[] | undefined;
        return { list: async (query, call) => (remembered ??= await counts.list(query, call)) };
      },
    }),
  },
  {
    that: 'has a handle that counts for itself',
    caughtBy: 'counts every one of twenty simultaneous batches through two handles',
    open: subject({ other: () => handleOn(new MemoryDeprecatedCallRepository()) }),
  },
];

bites(deprecatedCallRepositoryContract, subject({}), [
  ...keeping,
  ...adding,
  ...listing,
  ...repeating,
  ...outliving,
]);
