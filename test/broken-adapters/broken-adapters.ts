import { expect } from 'chai';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type { CompleteStore } from '../../src/application/ports/store.js';
import { UnavailableError } from '../../src/domain/errors.js';
import { each, type Contract, type Open, type Subject } from '../contract/contract.js';
import { runContract } from '../contract/run-contract.js';
import type { StoreSubject } from '../contract/store-subject.js';

/** Broken adapters, by the one case that each must fail. */
export type BrokenAdapters<Broken> = Readonly<Record<string, Broken | readonly Broken[]>>;

/** Enough to show what goes wrong with thousands of animals. */
const ANIMALS = 1500;

/** Cases that differ in a value only. A few of them have a broken adapter. */
const ALIKE = /^(?:stores .* exactly: |creates an animal )/;

/**
 * Shows that a contract passes an adapter that keeps it, and fails each broken one.
 * @param open opens the adapter that keeps it, or a broken one
 * @param alike the names of cases that need no broken adapter. Default: those of cases that differ in a value only
 */
export function failsBroken<Tested extends Subject, Broken, Given extends string = never>(
  contract: Contract<Tested, Given>,
  open: (broken?: Broken) => Open<Tested, Given>,
  broken: BrokenAdapters<Broken>,
  alike: RegExp = ALIKE,
): void {
  const names = contract.cases.map(({ name }) => name);
  const run = async (adapter: Broken | undefined, only: (name: string) => boolean) => {
    let opened = 0;
    const counted: Open<Tested, Given> = async (given) => {
      const subject = await open(adapter)(given);
      opened += 1;
      return subject;
    };
    const results = await runContract(contract, counted, { animals: ANIMALS, only });
    // A subject that does not open would fail every case.
    expect(opened, 'subjects that opened').to.be.greaterThan(0);
    return results;
  };

  describe(`the contract of ${contract.port}`, () => {
    it('names each case differently, and has a broken adapter for each', () => {
      const repeated = names.filter((name, index) => names.indexOf(name) !== index);
      expect(repeated, 'names of several cases').to.deep.equal([]);
      const unbroken = names.filter((name) => !Object.hasOwn(broken, name) && !alike.test(name));
      expect(unbroken, 'cases without a broken adapter').to.deep.equal([]);
    });

    it('passes an adapter that keeps it, in each case that catches another', async () => {
      const results = await run(undefined, (name) => Object.hasOwn(broken, name));
      expect(results.filter(({ outcome }) => outcome !== 'passed')).to.deep.equal([]);
    });

    for (const { name: clause, adapter, number } of numbered(broken)) {
      it(`fails an adapter that breaks this${number}: ${clause}`, async () => {
        const results = await run(adapter, (name) => name === clause);
        const outcomes = results.map(({ outcome }) => outcome);
        expect(outcomes, 'the outcome of the case').to.deep.equal(['failed']);
      });
    }
  });
}

/** Each broken adapter with the name of its case, and its number if it is not the first of the case. */
const numbered = <Broken>(adapters: BrokenAdapters<Broken>) =>
  Object.entries(adapters).flatMap(([name, ofCase]) =>
    [ofCase].flat().map((adapter, index) => ({
      name,
      adapter: adapter as Broken,
      number: index === 0 ? '' : ` (${index + 1})`,
    })),
  );

/** What replaces operations of a port. The others stay those of an adapter that keeps its contract. */
export type Fault<Port> = (port: Port) => Partial<Port>;

type Operation<Port, Name extends keyof Port> = Extract<
  Port[Name],
  (...args: never[]) => Promise<unknown>
>;
type Args<Port, Name extends keyof Port> = Parameters<Operation<Port, Name>>;
type Result<Port, Name extends keyof Port> = Awaited<ReturnType<Operation<Port, Name>>>;

type AnyOperation = (...args: unknown[]) => Promise<unknown>;

/** Faults that many ports can have. */
export function faultsOf<Port extends object>() {
  type Name = keyof Port & string;
  const replaced =
    (
      names: readonly string[],
      replace: (operation: AnyOperation, args: unknown[], name: string) => unknown,
    ): Fault<Port> =>
    (port) => {
      const operations = names.map((name) => {
        const operation = (Reflect.get(port, name) as AnyOperation).bind(port);
        return [name, async (...args: unknown[]) => replace(operation, args, name)] as const;
      });
      return Object.fromEntries(operations) as Partial<Port>;
    };
  /** Replaces the operations that `changes` has a function for. */
  const changed = (
    changes: object,
    replace: (
      operation: AnyOperation,
      args: unknown[],
      change: (...args: unknown[]) => unknown,
    ) => unknown,
  ) =>
    replaced(Object.keys(changes), (operation, args, name) =>
      replace(operation, args, Reflect.get(changes, name) as AnyOperation),
    );

  const alien = (name: Name): Fault<Port> =>
    replaced([name], (operation, args) =>
      operation(...args).catch((cause: unknown) => {
        throw new TypeError('connection is closed', { cause });
      }),
    );

  const deaf = (name: Name) =>
    replaced([name], (operation, args) => operation(...args.map(withoutSignal)));

  return {
    /** Changes the first arguments of operations, as many as the change returns. */
    asks: (changes: {
      readonly [Call in keyof Port]?: (...args: Args<Port, Call>) => Partial<Args<Port, Call>>;
    }) =>
      changed(changes, (operation, args, change) => {
        const first = change(...args) as unknown[];
        return operation(...first, ...args.slice(first.length));
      }),

    /** Changes the results of operations. */
    returns: (changes: {
      readonly [Call in keyof Port]?: (
        result: Result<Port, Call>,
        ...args: Args<Port, Call>
      ) => unknown;
    }) =>
      changed(changes, async (operation, args, change) =>
        change(await operation(...args), ...args),
      ),

    /** Changes the errors of operations: returns or throws instead. */
    rejects: (changes: {
      readonly [Call in keyof Port]?: (error: Error, ...args: Args<Port, Call>) => unknown;
    }) =>
      changed(changes, (operation, args, change) =>
        operation(...args).catch((error: unknown) => change(error, ...args)),
      ),

    /** Ignores signals. */
    deaf,

    /** Looks at its signal after it has worked. */
    hasty: (name: Name) =>
      replaced([name], async (operation, args) => {
        const result = await operation(...args.map(withoutSignal));
        for (const arg of args)
          (arg as { signal?: AbortSignal } | undefined)?.signal?.throwIfAborted();
        return result;
      }),

    /** Rejects with its own errors. */
    alien,

    /** For each call of a store: it ignores its signal, unless `others` has another fault for that. */
    endings: (calls: readonly string[], others: BrokenAdapters<Fault<Port>> = {}) => {
      const deafOnes = Object.fromEntries(calls.map((call) => [call, deaf(call as Name)]));
      return each({ ...deafOnes, ...others }, (call, fault) => [
        `rejects with the reason of an aborted signal, even if it knows the result, and changes nothing: ${call}`,
        fault,
      ]);
    },

    /** Returns what it returned before, while `isFresh`, which also gets how often it did that. */
    remembers: (
      name: Name,
      isFresh: (result: unknown, times: number) => boolean,
      forgetsBy?: Name,
    ): Fault<Port> => {
      return (port) => {
        const known = new Map<string, { readonly result: unknown; times: number }>();
        const reads = replaced([name], async (operation, args) => {
          const asked = String(Object.entries(Object(args[0]) as object)) + String(args[0]);
          const before = known.get(asked);
          if (before && isFresh(before.result, before.times)) {
            before.times += 1;
            return before.result;
          }
          const result = await operation(...args);
          known.set(asked, { result, times: 0 });
          return result;
        });
        const writes = replaced(forgetsBy ? [forgetsBy] : [], (operation, args) => {
          known.clear();
          return operation(...args);
        });
        return { ...reads(port), ...writes(port) };
      };
    },

    /** Refuses a call that would wait for one of so many connections. */
    crowded:
      (name: Name, connections: number): Fault<Port> =>
      (port) => {
        let inUse = 0;
        return replaced([name], async (operation, args) => {
          if (inUse === connections) throw new UnavailableError('waiting for a connection');
          inUse += 1;
          await Promise.resolve();
          try {
            return await operation(...args);
          } finally {
            inUse -= 1;
          }
        })(port);
      },

    /** Works in a later turn, as with a disk. */
    slow: (...names: Name[]) =>
      replaced(names, (operation, args) => delay(2).then(() => operation(...args))),

    /** Calls these operations on another port. */
    elsewhere:
      (open: () => Port, ...names: Name[]): Fault<Port> =>
      () =>
        replaced(names, (operation, args) => operation(...args))(open()),
  };
}

const withoutSignal = (arg: unknown): unknown =>
  typeof arg === 'object' && arg !== null && 'signal' in arg ? { ...arg, signal: undefined } : arg;

/**
 * Reads from a snapshot of everything, which it renews only when nobody reads. A read takes a few turns.
 * @param sees whether it sees an item in the store or in the snapshot, where they differ. Default: in the snapshot
 */
export const keepsSnapshot =
  <
    Item extends { readonly id: unknown },
    Port extends { findById(id: Item['id']): Promise<Item | undefined> },
  >(
    all: (port: Port) => Promise<readonly Item[]>,
    sees: (stored: Item | undefined, kept: Item | undefined) => Item | undefined = (_, kept) =>
      kept,
  ): Fault<Port> =>
  (port) => {
    let snapshot: Promise<readonly Item[]> | undefined;
    let readers = 0;
    const list = async (): Promise<readonly Item[]> => {
      readers += 1;
      const kept = await (snapshot ??= all(port));
      for (let turns = 0; turns < 5; turns += 1) await turn();
      readers -= 1;
      if (readers === 0) snapshot = undefined;
      return kept;
    };
    const findById = async (id: Item['id']): Promise<Item | undefined> => {
      const kept = await list();
      return sees(
        await port.findById(id),
        kept.find((item) => item.id === id),
      );
    };
    return { findById, list } as unknown as Partial<Port>;
  };

/** The port with operations replaced. */
export const withFault = <Port extends object>(port: Port, fault: Fault<Port> | undefined): Port =>
  fault ? (Object.create(port, Object.getOwnPropertyDescriptors(fault(port))) as Port) : port;

export type PortName = 'pets' | 'apiKeys' | 'transfer' | 'changes';

/** What replaces operations of a port of a store; it also sees the others. */
export type PortFault<Name extends PortName> = (
  port: CompleteStore[Name],
  store: CompleteStore,
) => Partial<CompleteStore[Name]>;

/** The store with a fault in one port. */
export const inPort =
  <Name extends PortName>(name: Name, fault: PortFault<Name>): Fault<CompleteStore> =>
  (store) => ({
    [name]: withFault<CompleteStore[Name]>(store[name], (port) => fault(port, store)),
  });

/** Several faults of one store. */
export const together =
  (...faults: readonly Fault<CompleteStore>[]): Fault<CompleteStore> =>
  (store) =>
    Object.assign({}, ...faults.map((fault) => fault(store))) as Partial<CompleteStore>;

/** Faults by the handle that has them: the subject's own, that after opening again, or another one. */
export interface HandleFaults {
  readonly first?: Fault<CompleteStore>;
  readonly reopened?: Fault<CompleteStore>;
  readonly another?: Fault<CompleteStore>;
}

/** Faults of one port of the first handle. */
export const inFirst = <Name extends PortName>(
  name: Name,
  faults: BrokenAdapters<PortFault<Name>>,
): BrokenAdapters<HandleFaults> =>
  each(faults, (clause, ofCase) => [
    clause,
    [ofCase].flat().map((fault) => ({ first: inPort(name, fault) })),
  ]);

/** `failsBroken` for a store that is durable, shared and ordered. */
export const failsBrokenStores = (
  contract: Contract<StoreSubject>,
  broken: BrokenAdapters<HandleFaults>,
): void => failsBroken(contract, brokenSubject, broken);

const brokenSubject =
  (faults: HandleFaults = {}) =>
  async (): Promise<StoreSubject> => {
    const memory = openMemoryStore();
    const open = (fault?: Fault<CompleteStore>): CompleteStore => {
      const store = handleOn(memory);
      return { ...store, ...fault?.(store) };
    };
    const first = open(faults.first);
    return {
      ...first,
      async reopen() {
        await first.close();
        return open(faults.reopened);
      },
      another: async () => open(faults.another),
      ordered: true,
      dispose: () => memory.close(),
    };
  };

/** A handle on a store in memory, which outlives it: it stands for a store that is durable and shared. */
function handleOn(memory: CompleteStore): CompleteStore {
  const closed = openMemoryStore();
  void closed.close();
  let target = memory;
  const close = async (): Promise<void> => {
    target = closed;
  };
  const port = <Name extends PortName>(name: Name): CompleteStore[Name] =>
    new Proxy(memory[name], {
      get:
        (_, operation) =>
        (...args: unknown[]) =>
          (Reflect.get(target[name], operation) as AnyOperation).apply(target[name], args),
    });
  return {
    pets: port('pets'),
    apiKeys: port('apiKeys'),
    transfer: port('transfer'),
    changes: port('changes'),
    location: '',
    check: (call) => target.check(call),
    close,
    [Symbol.asyncDispose]: close,
  };
}
