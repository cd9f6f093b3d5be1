import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type { CompleteStore } from '../../src/application/ports/store.js';
import type { Contract, Open, Subject } from '../contract/contract.js';
import { runContract } from '../contract/run-contract.js';
import type { StoreSubject } from '../contract/store-subject.js';

/** Broken adapters, each by the promise that it breaks: by a part of the name of the one case that must fail. */
export type Bites<Fault> = Readonly<Record<string, Fault>>;

/** Enough to show what goes wrong with thousands of animals. */
const ANIMALS = 1500;

/** Shows that a contract passes an adapter that keeps it, and fails each broken one. */
export function bites<S extends Subject, Fault, Given extends string = never>(
  contract: Contract<S, Given>,
  open: (fault?: Fault) => Open<S, Given>,
  broken: Bites<Fault>,
  idle: Readonly<Record<string, Fault>> = {},
): void {
  const names = contract.cases.map(({ name }) => name);
  const isNamed = (name: string, part: string): boolean =>
    names.includes(part) ? name === part : name.includes(part);
  const run = async (fault: Fault | undefined, only: (name: string) => boolean) => {
    let opened = 0;
    const counted: Open<S, Given> = async (given) => {
      const subject = await open(fault)(given);
      opened += 1;
      return subject;
    };
    const results = await runContract(contract, counted, { animals: ANIMALS, only });
    // A subject that does not open would fail every case.
    expect(opened, 'subjects that opened').to.be.greaterThan(0);
    return results;
  };

  describe(`the contract of ${contract.port}`, function () {
    this.timeout(60_000);

    it('names each case differently', () => {
      expect(names.filter((name, index) => names.indexOf(name) !== index)).to.deep.equal([]);
    });

    it('passes an adapter that keeps it, in each case that catches another', async () => {
      const parts = Object.keys(broken);
      const results = await run(undefined, (name) => parts.some((part) => isNamed(name, part)));
      expect(results.filter(({ outcome }) => outcome !== 'passed')).to.deep.equal([]);
    });

    for (const [operation, fault] of Object.entries(idle)) {
      it(`fails an adapter whose ${operation} does nothing`, async () => {
        const results = await run(fault, (name) => !/thousands/.test(name));
        expect(results.filter(({ outcome }) => outcome === 'failed')).to.not.deep.equal([]);
      });
    }

    for (const [promise, fault] of Object.entries(broken)) {
      it(`fails an adapter that breaks this: ${promise}`, async () => {
        const results = await run(fault, (name) => isNamed(name, promise));
        expect(results.map(({ outcome }) => outcome)).to.deep.equal(['failed']);
      });
    }
  });
}

/** What replaces operations of a port. */
export type Fault<Port> = (port: Port) => Partial<Port>;

type Operation<Port, Name extends keyof Port> = Extract<Port[Name], (...args: never[]) => Promise<unknown>>;
type Args<Port, Name extends keyof Port> = Parameters<Operation<Port, Name>>;
type Result<Port, Name extends keyof Port> = Awaited<ReturnType<Operation<Port, Name>>>;

type AnyOperation = (...args: unknown[]) => Promise<unknown>;

/** Faults that many ports can have. */
export function faultsOf<Port extends object>() {
  const replaced = (
    names: readonly string[],
    replace: (name: string, operation: AnyOperation) => AnyOperation,
  ) =>
    ((port) =>
      Object.fromEntries(
        names.map((name) => {
          const operation = Reflect.get(port, name) as AnyOperation;
          return [name, replace(name, (...args) => operation.apply(port, args))];
        }),
      )) as Fault<Port>;
  const each = (
    changes: object,
    replace: (operation: AnyOperation, change: (...args: unknown[]) => unknown) => AnyOperation,
  ) =>
    replaced(Object.keys(changes), (name, operation) =>
      replace(operation, Reflect.get(changes, name) as AnyOperation),
    );

  return {
    /** Changes the arguments of operations. */
    asks: (changes: { readonly [Name in keyof Port]?: (...args: Args<Port, Name>) => Args<Port, Name> }) =>
      each(
        changes,
        (operation, change) =>
          (...args) =>
            operation(...(change(...args) as unknown[])),
      ),

    /** Changes the results of operations. */
    returns: (changes: {
      readonly [Name in keyof Port]?: (result: Result<Port, Name>, ...args: Args<Port, Name>) => unknown;
    }) =>
      each(
        changes,
        (operation, change) =>
          async (...args) =>
            change(await operation(...args), ...args),
      ),

    /** Changes the errors of operations: returns or throws instead. */
    rejects: (changes: {
      readonly [Name in keyof Port]?: (error: Error, ...args: Args<Port, Name>) => unknown;
    }) =>
      each(changes, (operation, change) => async (...args) => {
        try {
          return await operation(...args);
        } catch (error) {
          return change(error, ...args);
        }
      }),

    /** Reads its arguments late. */
    late: (name: keyof Port & string) =>
      replaced([name], (_, operation) => async (...args) => {
        await Promise.resolve();
        return operation(...args);
      }),

    /** Ignores signals. */
    deaf: (name: keyof Port & string) =>
      replaced(
        [name],
        (_, operation) =>
          (...args) =>
            operation(...args.map(withoutSignal)),
      ),

    /** Looks at its signal after it has worked. */
    hasty: (name: keyof Port & string) =>
      replaced([name], (_, operation) => async (...args) => {
        const result = await operation(...args.map(withoutSignal));
        for (const arg of args) (arg as { signal?: AbortSignal } | undefined)?.signal?.throwIfAborted();
        return result;
      }),

    /** Rejects with its own errors. */
    alien: (name: keyof Port & string) =>
      replaced(
        [name],
        (_, operation) =>
          (...args) =>
            operation(...args).catch((cause: unknown) => {
              throw new TypeError('connection is closed', { cause });
            }),
      ),

    /** Returns what it returned before, for as long as `isFresh`. */
    remembers: (
      name: keyof Port & string,
      isFresh: (result: unknown, age: number) => boolean,
      forgetsBy?: keyof Port & string,
    ): Fault<Port> => {
      return (port) => {
        const known = new Map<string, { readonly result: unknown; readonly at: number }>();
        const reads = replaced([name], (_, operation) => async (...args) => {
          const asked = String(Object.entries(Object(args[0]) as object)) + String(args[0]);
          const before = known.get(asked);
          if (before && isFresh(before.result, performance.now() - before.at)) return before.result;
          const result = await operation(...args);
          known.set(asked, { result, at: performance.now() });
          return result;
        });
        const writes = replaced(forgetsBy ? [forgetsBy] : [], (_, operation) => (...args) => {
          known.clear();
          return operation(...args);
        });
        return { ...reads(port), ...writes(port) };
      };
    },

    /** Works in a later turn, as with a disk. */
    slow: (...names: (keyof Port & string)[]) =>
      replaced(names, (_, operation) => async (...args) => {
        await delay(2);
        return operation(...args);
      }),

    /** Reads from a snapshot, which it drops a millisecond after it was first read. */
    keepsSnapshot:
      <Item extends { readonly id: unknown }>(all: (port: Port) => Promise<readonly Item[]>): Fault<Port> =>
      (port) => {
        let snapshot: Promise<readonly Item[]> | undefined;
        const read = (): Promise<readonly Item[]> => {
          if (!snapshot) setTimeout(() => (snapshot = undefined), 1);
          return (snapshot ??= all(port));
        };
        const findById = async (id: unknown) => (await read()).find((item) => item.id === id);
        return { findById, list: read } as unknown as Partial<Port>;
      },

    /** Calls these operations on another port. */
    elsewhere:
      (open: () => Port, ...names: (keyof Port & string)[]): Fault<Port> =>
      () =>
        replaced(names, (_, operation) => operation)(open()),
  };
}

const withoutSignal = (arg: unknown): unknown =>
  typeof arg === 'object' && arg !== null && 'signal' in arg ? { ...arg, signal: undefined } : arg;

/** For each operation of a port: a fault by which it does nothing. */
export const idleFaults = <Port extends object>(port: Port): Readonly<Record<string, Fault<Port>>> =>
  Object.fromEntries(
    Object.keys(port).map((name) => [name, () => ({ [name]: async () => undefined }) as Partial<Port>]),
  );

/** The port with operations replaced. */
export const withFault = <Port extends object>(port: Port, fault: Fault<Port> | undefined): Port =>
  fault ? (Object.create(port, Object.getOwnPropertyDescriptors(fault(port))) as Port) : port;

export type PortName = 'pets' | 'apiKeys' | 'transfer' | 'changes';

/** Faults by the handle that has them: the subject's own, that after opening again, or another one. */
export interface HandleFaults<Port> {
  readonly first?: Fault<Port>;
  readonly reopened?: Fault<Port>;
  readonly another?: Fault<Port>;
}

/** `bites` for one port of a store that is durable, shared and ordered. A lone fault is that of the first handle. */
export function storeBites<Name extends PortName>(
  contract: Contract<StoreSubject>,
  name: Name,
  broken: Bites<Fault<CompleteStore[Name]> | HandleFaults<CompleteStore[Name]>>,
): void {
  const subject = (fault?: Fault<CompleteStore[Name]> | HandleFaults<CompleteStore[Name]>) => async () => {
    const memory = openMemoryStore();
    const faults = typeof fault === 'function' ? { first: fault } : fault;
    const open = (handle: keyof HandleFaults<unknown>): CompleteStore => {
      const store = handleOn(memory);
      return { ...store, [name]: withFault(store[name], faults?.[handle]) };
    };
    const first = open('first');
    return {
      ...first,
      async reopen() {
        await first.pets.close();
        return open('reopened');
      },
      another: async () => open('another'),
      ordered: true,
      dispose: () => memory.close(),
    };
  };
  bites(contract, subject, broken, idleFaults<CompleteStore[Name]>(openMemoryStore()[name]));
}

/** A handle on a store in memory, which outlives it: it stands for a store that is durable and shared. */
export function handleOn(memory: CompleteStore): CompleteStore {
  const closed = openMemoryStore();
  void closed.close();
  let target = memory;
  const close = async (): Promise<void> => void (target = closed);
  const port = <Name extends PortName>(name: Name): CompleteStore[Name] =>
    new Proxy(memory[name], {
      get(_, operation) {
        if (operation === 'close') return close;
        const value: unknown = Reflect.get(target[name], operation);
        return typeof value === 'function' ? value.bind(target[name]) : value;
      },
    });
  const [pets, apiKeys] = [port('pets'), port('apiKeys')];
  return { pets, apiKeys, transfer: port('transfer'), changes: port('changes'), location: '', close };
}
