import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiKeyAuthenticator } from '../../src/adapters/api-keys/index.js';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import { apiKeyRepositoryContract } from '../contract/api-key-repository-contract.js';
import { catalogueTransferContract } from '../contract/catalogue-transfer-contract.js';
import {
  animalStoreContract,
  authenticatorContract,
  petRepositoryContract,
  storeFactoryContract,
} from '../contract/index.js';
import { petChangesContract } from '../contract/pet-changes-contract.js';
import { storeContract } from '../contract/store-contract.js';
import type { StoreSubject } from '../contract/store-subject.js';
import type { CallOptions } from '../../src/application/animal-store.js';
import type { CaseResult, Contract, ContractCase, Subject } from '../contract/contract.js';
import { runContract } from '../contract/run-contract.js';
import { rejectionOf } from '../contract/rejection.js';
import { until } from '../until.js';

interface Counter extends Subject {
  count(): number;
}

/** Counters, and what became of those that were opened. */
class Counters {
  opened = 0;
  disposed = 0;
  readonly open = async (): Promise<Counter> => {
    this.opened += 1;
    let count = 0;
    return {
      count() {
        count += 1;
        return count;
      },
      dispose: async () => {
        this.disposed += 1;
      },
    };
  };
}

const contractOf = (...cases: ContractCase<Counter>[]): Contract<Counter> => ({
  port: 'Counter',
  cases,
});

const counts: ContractCase<Counter> = {
  name: 'starts at 1',
  async run(counter) {
    const first = counter.count();
    if (first !== 1) throw new Error(`it started at ${first}`);
  },
};
const fails: ContractCase<Counter> = {
  name: 'fails',
  run: () => Promise.reject(new Error('broken')),
};
const never: ContractCase<Counter> = { name: 'never ends', run: () => new Promise(() => {}) };

const needsLegs = (isMissing: boolean): ContractCase<Counter> => ({
  ...fails,
  needs: [{ name: 'legs', missing: () => (isMissing ? 'it is a counter' : undefined) }],
});

const noDisk = (): Promise<never> => Promise.reject(new Error('no disk'));

const dispose = async (): Promise<void> => {};

const outcomes = (results: readonly CaseResult[]): string[] =>
  results.map((result) => {
    if (result.outcome === 'failed') return `${result.name}: ${String(result.error)}`;
    return `${result.name}: ${result.outcome}${result.outcome === 'skipped' ? `, ${result.reason}` : ''}`;
  });

const run = (
  cases: readonly ContractCase<Counter>[],
  options?: Parameters<typeof runContract>[2],
  open = new Counters().open,
) => runContract(contractOf(...cases), open, options);

describe('runContract', () => {
  it('gives every case a new subject, and disposes of each', async () => {
    const counters = new Counters();
    const inapplicable = {
      name: 'does not apply',
      needs: [{ name: 'legs', missing: () => 'it is a counter' }],
      run: noDisk,
    };
    const results = await run(
      [counts, inapplicable, fails, { ...counts, name: 'again' }],
      {},
      counters.open,
    );
    expect(outcomes(results)).to.deep.equal([
      'starts at 1: passed',
      'does not apply: skipped, it is a counter',
      'fails: Error: broken',
      'again: passed',
    ]);
    expect(counters).to.include({ opened: 4, disposed: 4 });
  });

  it('fails every case whose subject does not open or close, and reports the first error', async () => {
    expect(outcomes(await run([counts], {}, noDisk))).to.deep.equal([
      'starts at 1: Error: no disk',
    ]);
    const undisposable = async (): Promise<Counter> => ({ count: () => 1, dispose: noDisk });
    expect(outcomes(await run([counts, fails], {}, undisposable))).to.deep.equal([
      'starts at 1: Error: no disk',
      'fails: Error: broken',
    ]);
  });

  it('fails what takes longer than the time limit, and runs the other cases', async () => {
    const counters = new Counters();
    const results = await run([never, counts], { timeLimit: 30 }, counters.open);
    expect(outcomes(results)).to.deep.equal([
      'never ends: Error: the case did not end within 0.03 s',
      'starts at 1: passed',
    ]);
    expect(counters).to.include({ opened: 2, disposed: 2 });
  });

  it('takes a time limit that is longer than timers can be set for', async () => {
    const slow: ContractCase<Counter> = { name: 'is slow', run: () => delay(20) };

    const results = await run([slow], { timeLimit: 2 ** 31 });

    expect(outcomes(results)).to.deep.equal(['is slow: passed']);
  });

  it('runs on subjects of a class with private fields', async () => {
    class Store {
      readonly #store = openMemoryStore();
      get pets() {
        return this.#store.pets;
      }
      check(call?: CallOptions) {
        return this.#store.check(call);
      }
      close() {
        return this.#store.close();
      }
      dispose() {
        return this.close();
      }
    }

    const results = await runContract(storeContract, async () => new Store());

    const failed = results.filter(({ outcome }) => outcome === 'failed');
    expect(outcomes(failed)).to.deep.equal([]);
    const passed = results.filter(({ outcome }) => outcome === 'passed');
    expect(passed).to.not.have.lengthOf(0);
  });

  it('says what a subject lacks, even if that cannot be disposed of, or takes too long', async () => {
    for (const undisposable of [noDisk, () => new Promise<void>(() => {})]) {
      const open = async () => ({ dispose: undisposable }) as unknown as StoreSubject;

      const [first] = await runContract(petRepositoryContract, open, { timeLimit: 30 });

      expect(String(first?.error)).to.include('the subject has no pets.add');
    }
  });

  it('disposes of a subject that opens after the time limit', async () => {
    const counters = new Counters();
    const later = Promise.withResolvers<void>();
    const results = await run([counts], { timeLimit: 10 }, () => later.promise.then(counters.open));
    expect(outcomes(results)).to.deep.equal([
      'starts at 1: Error: the subject did not open within 0.01 s',
    ]);
    later.resolve();
    await until('the late subject is disposed of', () => counters.disposed > 0);
  });

  it('fails once, by name, when the subject lacks what every case needs, and skips the others', async () => {
    const { pets } = openMemoryStore();
    const credential = 'a-key-of-sixteen-characters';
    const accepted = [credential, `${credential}-2`].map((each) => ({
      credential: each,
      keyId: each,
      scopes: [],
    }));
    const refused = [{ credential, reason: 'unknown' }];
    const authenticator = new ApiKeyAuthenticator({ staticKeys: [credential] });
    for (const [contract, subject, missing] of [
      [petRepositoryContract, { pets }, 'the subject has no dispose'],
      [petRepositoryContract, { dispose }, 'the subject has no pets'],
      [storeContract, { pets, dispose }, 'the subject has no check, no close'],
      [
        petRepositoryContract,
        { pets: { ...pets, add: undefined, list: undefined }, dispose },
        'the subject has no pets.add, no pets.list',
      ],
      [petChangesContract, { pets, changes: {}, dispose }, 'no changes.change, no changes.remove'],
      [apiKeyRepositoryContract, { pets, apiKeys: {}, dispose }, 'no apiKeys.add'],
      [catalogueTransferContract, { pets, transfer: {}, dispose }, 'no transfer.survey'],
      [animalStoreContract, { animalStore: {}, dispose }, 'no animalStore.listPets'],
      [storeFactoryContract, { dispose }, 'the subject has no open'],
      [authenticatorContract, { dispose }, 'the subject has no authenticator.authenticate'],
      [
        authenticatorContract,
        { authenticator, accepted: accepted.slice(1), refused, dispose },
        'has 1 valid',
      ],
      [
        authenticatorContract,
        { authenticator, accepted, refused: [], dispose },
        'no invalid credential',
      ],
    ] as const) {
      const results = await runContract(
        contract as unknown as Contract<Subject>,
        async () => subject as unknown as Subject,
      );
      expect(String(results[0]?.error), contract.port)
        .to.include(missing)
        .and.include('no case can run');
      const others = new Set(
        results.slice(1).map(({ outcome, reason }) => `${outcome}: ${reason}`),
      );
      expect([...others].join(), contract.port)
        .to.match(/^skipped: [^:]+$/)
        .and.include(missing);
    }
  });

  it('says in a failure what was done, what came and what was expected', async () => {
    const { pets, ...ports } = openMemoryStore();
    const open = async () => ({
      ...ports,
      pets: { ...pets, findById: async () => undefined },
      dispose: async () => {},
    });
    const [result] = await runContract(petRepositoryContract, open, {
      only: (name) => name.startsWith('returns every field'),
    });
    expect(result?.error).to.be.instanceOf(Error);
    const { message, stack } = Object(result?.error) as Error;
    expect(stack).to.include(message);
    expect(message).to.match(/pets\.add\(\{ .*categoryId: .*n.* \}\) resolved to \{ id: 1n/);
    expect(message).to.match(/pets\.findById\(1n\) resolved to undefined/);
    expect(message)
      .to.match(/the id of the animal/)
      .and.match(/'undefined'\n(?:.*\n)*.*'bigint'/);
  });

  it('names no values in a failure that compared none', async () => {
    const resolves: ContractCase<Counter> = {
      name: 'must reject',
      async run() {
        await rejectionOf(Promise.resolve(1));
      },
    };

    const [result] = await run([resolves]);

    expect(Object(result?.error).message).to.equal('the call resolved to 1, and must reject');
  });

  it('runs the chosen cases, by name and topic', async () => {
    const cases = [counts, { ...fails, topic: 'faults' }, never];
    const options = {
      only: (name: string, topic?: string) => name.startsWith('starts') || topic === 'faults',
    };
    expect(outcomes(await run(cases, options))).to.deep.equal([
      'starts at 1: passed',
      'fails: Error: broken',
    ]);
  });

  it('makes no case that needs what `without` names, and fails a subject that has it', async () => {
    const lacking = await run([counts, needsLegs(true)], { without: ['legs'] });
    const having = await run([counts, needsLegs(false)], { without: ['legs'] });

    expect(outcomes(lacking)).to.deep.equal(['starts at 1: passed']);
    expect(outcomes(having)).to.deep.equal([
      'starts at 1: Error: the subject has `legs`, which `without` names: no case can run',
    ]);
  });

  it('tells a case how many animals are wanted', async () => {
    const told: number[] = [];
    const counting: ContractCase<Counter> = {
      name: 'counts',
      run: async (_, { animals }) => void told.push(animals),
    };
    await run([counting]);
    await run([counting], { animals: 5 });
    expect(told).to.deep.equal([10_000, 5]);
  });

  it('shares subjects between cases with the same `given`, until the end', async () => {
    const counters = new Counters();
    const counted: string[] = [];
    const contract: Contract<Counter, 'small' | 'large'> = {
      port: 'Counter',
      cases: (['small', 'large', 'small'] as const).map((given, index) => ({
        name: `case ${index + 1}`,
        given,
        async run(counter) {
          counted.push(`${given} ${counter.count()} ${counters.disposed}`);
        },
      })),
    };
    await runContract(contract, counters.open);
    expect(counted).to.deep.equal(['small 1 0', 'large 1 0', 'small 2 0']);
    expect(counters).to.include({ opened: 2, disposed: 2 });
    const halved = await runContract(contract, (given) =>
      given === 'small' ? noDisk() : counters.open(),
    );
    expect(halved.map(({ outcome }) => outcome)).to.deep.equal(['failed', 'passed', 'failed']);
  });
});
