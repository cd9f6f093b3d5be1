import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type { Store } from '../../src/application/ports/store.js';
import type { Contract, Subject } from '../contract/contract.js';
import { runContract, type RunOptions } from '../contract/run-contract.js';
import { storeContracts } from '../contract/store-contracts.js';
import {
  storeFactoryContract,
  type StoreFactorySubject,
} from '../contract/store-factory-contract.js';
import { storeSubject } from '../contract/store-subject.js';
import { until } from '../until.js';

type Operation = (...args: unknown[]) => Promise<unknown>;
type Change = (operation: Operation, name: string) => Operation;

/** Stores that count the handles on them that are open: each would keep the process alive. */
class Handles {
  readonly open = new Set<Store>();
  removed = 0;

  /** Handles on one store in memory, whose operations are changed. */
  opener(change: Change): () => Promise<Store> {
    const { pets, apiKeys, transfer, changes, check } = openMemoryStore();
    const changed = <Port extends object>(port: Port): Port =>
      new Proxy(port, {
        get: (_, name: string) =>
          change((Reflect.get(port, name) as Operation).bind(port), name) as unknown,
      });
    return async () => {
      const close = change(async () => void this.open.delete(store), 'close');
      const store: Store = {
        pets: changed(pets),
        apiKeys: changed(apiKeys),
        transfer: changed(transfer),
        changes: changed(changes),
        location: 'memory',
        check: change(check as Operation, 'check') as () => Promise<void>,
        close: close as () => Promise<void>,
      };
      this.open.add(store);
      return store;
    };
  }

  readonly remove = async (): Promise<void> => {
    this.removed += 1;
  };
}

const broken = () => Promise.reject(new Error('broken'));

/** Rejects each so many calls. */
const failsEach = (count: number): Change => {
  let calls = 0;
  return (operation, name) => {
    if (name === 'close') return operation;
    return (...args) => {
      calls += 1;
      return calls % count === 0 ? broken() : operation(...args);
    };
  };
};

const FAULTS: Readonly<Record<string, { change: () => Change; options?: RunOptions }>> = {
  'no call works': { change: () => failsEach(1) },
  'each second call fails': { change: () => failsEach(2) },
  'each third call fails': { change: () => failsEach(3) },
  'each fifth call fails': { change: () => failsEach(5) },
  'close rejects, though it closes': {
    change: () => (operation, name) =>
      name === 'close' ? (...args) => operation(...args).then(broken) : operation,
  },
  'reads never end': {
    change: () => (operation, name) =>
      /^(?:list|findById|survey)$/.test(name) ? () => new Promise(() => {}) : operation,
    options: { timeLimit: 20, only: (name) => /handle|again|exist|page/.test(name) },
  },
};

/** Runs a program without a test runner; resolves to what it prints. Rejects unless it ends by itself, with 0. */
const printedBy = async (program: string): Promise<string> => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { timeout: 20_000 },
  );
  return stdout;
};
const contractModule = JSON.stringify(import.meta.resolve('../contract/index.js'));

describe('A run of a contract ends, because nothing is left open, where', () => {
  for (const [fault, { change, options }] of Object.entries(FAULTS)) {
    const run = async <S extends Subject>(contract: Contract<S>, open: () => Promise<S>) => {
      const results = await runContract(contract, open, { animals: 110, ...options });
      expect(results.length, contract.port).to.be.greaterThan(0);
      return results.filter(({ outcome }) => outcome === 'failed').length;
    };

    it(`${fault}: a store`, async () => {
      for (const contract of storeContracts) {
        const handles = new Handles();
        let opened = 0;
        const failed = await run(contract, () => {
          opened += 1;
          return storeSubject(handles.opener(change()), handles.remove, {
            durable: true,
            shared: true,
            ordered: true,
          });
        });
        // What was begun before the time limit may still open a handle, which is closed at once.
        await until(`all handles of ${contract.port} are closed`, () => handles.open.size === 0);
        expect(handles.removed, `stores removed of ${contract.port}`).to.equal(opened);
        if (!options) expect(failed, contract.port).to.be.greaterThan(0);
      }
    });

    it(`${fault}: a store factory`, async () => {
      const handles = new Handles();
      const failed = await run(storeFactoryContract, async (): Promise<StoreFactorySubject> => ({
        isShared: true,
        open: handles.opener(change()),
        dispose: handles.remove,
      }));
      await until('all handles are closed', () => handles.open.size === 0);
      expect(handles.removed, 'places removed').to.equal(storeFactoryContract.cases.length);
      expect(failed, 'failed cases').to.be.above(0);
    });
  }

  it('one of several shared subjects cannot be disposed of', async () => {
    const disposed: string[] = [];
    const contract: Contract<Subject, 'bad' | 'good'> = {
      port: 'Anything',
      cases: (['bad', 'good'] as const).map((given) => ({
        name: given,
        given,
        run: async () => {},
      })),
    };
    const running = runContract(contract, async (given) => ({
      async dispose() {
        disposed.push(given);
        if (given === 'bad') throw new Error('broken');
      },
    }));
    expect(String(await running.catch((error: unknown) => error))).to.equal('Error: broken');
    expect(disposed).to.deep.equal(['bad', 'good']);
  });

  it('a program runs it without a test runner', async () => {
    // Every open store keeps the process alive.
    const printed = await printedBy(`
      import { runContract, storeFactoryContract } from ${contractModule};
      import { openMemoryStore } from ${JSON.stringify(import.meta.resolve('../../src/adapters/memory/index.js'))};
      const open = async () => {
        const { pets } = openMemoryStore();
        const alive = setInterval(() => {}, 1000);
        const findById = () => Promise.reject(new Error('broken'));
        return { pets: { ...pets, findById }, close: async () => clearInterval(alive) };
      };
      const dispose = async () => {};
      const results = await runContract(storeFactoryContract, async () => ({ open, dispose, isShared: true }));
      console.log(results.map(({ outcome }) => outcome).join());`);

    expect(printed).to.equal('failed,failed,failed,failed\n');
  });
});
