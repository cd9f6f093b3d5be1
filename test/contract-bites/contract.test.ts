import { expect } from 'chai';
import {
  undeclaredCapabilities,
  type Capability,
  type CaseResult,
  type Contract,
  type ContractCase,
  type Subject,
} from '../contract/contract.js';
import { runContract } from '../contract/run-contract.js';

interface Counter extends Subject {
  count: number;
}

/** Counters, and what became of all that were opened. */
class Counters {
  opened = 0;
  disposed = 0;
  readonly open = async (): Promise<Counter> => {
    this.opened += 1;
    return {
      count: 0,
      dispose: async () => {
        this.disposed += 1;
      },
    };
  };
}

const contractOf = (...cases: ContractCase<Counter>[]): Contract<Counter> => ({ port: 'Counter', cases });

const countsOnce: ContractCase<Counter> = {
  name: 'begins at 0',
  async run(counter) {
    if (counter.count !== 0) throw new Error(`it began at ${counter.count}`);
    counter.count += 1;
  },
};
const fails: ContractCase<Counter> = { name: 'fails', run: () => Promise.reject(new Error('broken')) };
const never: ContractCase<Counter> = { name: 'never ends', run: () => new Promise(() => {}) };

const noDisk = (): Promise<never> => Promise.reject(new Error('no disk'));

const outcomes = (results: readonly CaseResult[]): string[] =>
  results.map((result) => {
    if (result.outcome === 'failed') return `${result.name}: ${String(result.error)}`;
    return `${result.name}: ${result.outcome}${result.outcome === 'skipped' ? `, ${result.reason}` : ''}`;
  });

describe('runContract', () => {
  it('gives every case a fresh subject, and disposes of each, also when the case fails or is not owed', async () => {
    const counters = new Counters();
    const contract = contractOf(
      countsOnce,
      {
        name: 'is never there',
        unless: ({ count }) => (count < 1 ? 'it declares less than 1' : undefined),
        run: () => Promise.reject(new Error('not owed')),
      },
      fails,
      { ...countsOnce, name: 'begins at 0 again' },
    );
    expect(outcomes(await runContract(contract, counters.open))).to.deep.equal([
      'begins at 0: passed',
      'is never there: skipped, it declares less than 1',
      'fails: Error: broken',
      'begins at 0 again: passed',
    ]);
    expect(counters).to.include({ opened: 4, disposed: 4 });
  });

  it('fails every case when the subject cannot be opened or disposed of', async () => {
    expect(outcomes(await runContract(contractOf(countsOnce, fails), noDisk))).to.deep.equal([
      'begins at 0: Error: no disk',
      'fails: Error: no disk',
    ]);
    const undisposed = await runContract(contractOf(countsOnce, fails), async () => ({
      count: 0,
      dispose: noDisk,
    }));
    // What went wrong first is what is told.
    expect(outcomes(undisposed)).to.deep.equal(['begins at 0: Error: no disk', 'fails: Error: broken']);
  });

  describe('with a time limit', () => {
    it('fails a case that never ends by its name, disposes of its subject, and goes on', async () => {
      const counters = new Counters();
      const results = await runContract(contractOf(never, countsOnce), counters.open, { timeLimit: 30 });
      expect(outcomes(results)).to.deep.equal([
        'never ends: Error: the case did not end within 0.03 s',
        'begins at 0: passed',
      ]);
      expect(counters).to.include({ opened: 2, disposed: 2 });
      expect(results[0]?.milliseconds).to.be.within(25, 20_000);
    });

    it('fails a case whose subject never opens, and disposes of it should it still come', async () => {
      const counters = new Counters();
      const later = Promise.withResolvers<void>();
      const open = async (): Promise<Counter> => {
        await later.promise;
        return counters.open();
      };
      const results = await runContract(contractOf(countsOnce), open, { timeLimit: 10 });
      expect(outcomes(results)).to.deep.equal([
        'begins at 0: Error: the subject was not opened within 0.01 s',
      ]);
      later.resolve();
      while (counters.disposed === 0) await Promise.resolve();
      expect(counters).to.include({ opened: 1, disposed: 1 });
    });

    it('fails a case whose subject is never disposed of', async () => {
      const results = await runContract(
        contractOf(countsOnce),
        async () => ({ count: 0, dispose: () => new Promise(() => {}) }),
        { timeLimit: 10 },
      );
      expect(outcomes(results)).to.deep.equal([
        'begins at 0: Error: the subject was not disposed of within 0.01 s',
      ]);
    });

    it('of Infinity waits for whatever comes', async () => {
      const slow = contractOf({ name: 'takes a while', run: () => new Promise((end) => setTimeout(end, 5)) });
      const results = await runContract(slow, new Counters().open, { timeLimit: Infinity });
      expect(outcomes(results)).to.deep.equal(['takes a while: passed']);
    });
  });

  it('tells each result as soon as it is there, and runs only what is wanted', async () => {
    const told: string[] = [];
    const results = await runContract(contractOf(countsOnce, fails, never), new Counters().open, {
      only: (name) => name !== 'never ends',
      onResult: ({ name, outcome }, count) => void told.push(`${name} ${outcome} of ${count}`),
    });
    expect(told).to.deep.equal(['begins at 0 passed of 2', 'fails failed of 2']);
    expect(results).to.have.length(2);
  });

  it('begins no other case once its signal is aborted, and rejects with the reason', async () => {
    const counters = new Counters();
    const stop = new AbortController();
    const reason = new Error('told to stop');
    const running = runContract(contractOf(countsOnce, fails), counters.open, {
      signal: stop.signal,
      onResult: () => stop.abort(reason),
    });
    expect(await running.catch((error: unknown) => error)).to.equal(reason);
    expect(counters).to.include({ opened: 1, disposed: 1 });
  });

  it('hands a case how many animals are wanted, and keeps what it notes', async () => {
    const contract = contractOf({
      name: 'walks',
      run: async (_, { animals, note }) => note(`with ${animals} animals`),
    });
    const [usual] = await runContract(contract, new Counters().open);
    expect(usual?.notes).to.deep.equal(['with 10000 animals']);
    const [few] = await runContract(contract, new Counters().open, { animals: 5 });
    expect(few?.notes).to.deep.equal(['with 5 animals']);
  });
});

const capability = (declared: boolean, canBeTried = true): Capability<Counter> => ({
  name: 'countable',
  isDeclared: () => declared,
  canBeTried: () => canBeTried,
});

const run = (...cases: ContractCase<Counter>[]) => runContract(contractOf(...cases), new Counters().open);

describe('A capability', () => {
  it('that is declared is owed: a case of it that fails has failed', async () => {
    const results = await run(
      { ...countsOnce, needs: capability(true) },
      { ...fails, needs: capability(true) },
    );
    expect(outcomes(results)).to.deep.equal(['begins at 0: passed', 'fails: Error: broken']);
    expect(undeclaredCapabilities(results)).to.deep.equal([]);
  });

  it('that is not declared is tried: what fails is skipped, and what passes says that it was not declared', async () => {
    const results = await run(
      { ...countsOnce, needs: capability(false) },
      { ...fails, needs: capability(false) },
    );
    expect(outcomes(results)).to.deep.equal([
      'begins at 0: passed',
      'fails: skipped, the adapter does not declare itself countable',
    ]);
    for (const result of results)
      expect(result.capability).to.deep.equal({ name: 'countable', declared: false });
  });

  it('that is not declared and has nothing to be tried with is skipped', async () => {
    const results = await run({ ...countsOnce, needs: capability(false, false) });
    expect(outcomes(results)).to.deep.equal([
      'begins at 0: skipped, the adapter does not declare itself countable',
    ]);
  });

  it('that is not declared and kept in all its cases is named', async () => {
    const needs = capability(false);
    const kept = await run({ ...countsOnce, needs }, { ...countsOnce, name: 'begins at 0 again', needs });
    expect(undeclaredCapabilities(kept)).to.deep.equal(['countable']);
    for (const cases of [
      [
        { ...countsOnce, needs },
        { ...fails, needs },
      ],
      [
        { ...fails, needs },
        { ...countsOnce, needs },
      ],
    ]) {
      expect(undeclaredCapabilities(await run(...cases))).to.deep.equal([]);
    }
  });
});

describe('Subjects that cases share', () => {
  type Given = 'small' | 'large';
  const contract: Contract<Counter, Given> = {
    port: 'Counter',
    sharesSubjects: true,
    cases: (['small', 'large', 'small'] as const).map((given, index) => ({
      name: `case ${index + 1}`,
      given,
      async run(counter, { note }) {
        counter.count += 1;
        note(`${given} ${counter.count}`);
      },
    })),
  };

  it('are opened once for all cases that are given the same, when first needed, and disposed of in the end', async () => {
    const counters = new Counters();
    const given: Given[] = [];
    const results = await runContract(
      contract,
      (situation: Given) => {
        given.push(situation);
        return counters.open();
      },
      { onResult: () => expect(counters.disposed).to.equal(0) },
    );
    expect(results.flatMap(({ notes }) => notes)).to.deep.equal(['small 1', 'large 1', 'small 2']);
    expect(given).to.deep.equal(['small', 'large']);
    expect(counters).to.include({ opened: 2, disposed: 2 });
  });

  it('that cannot be opened fail the cases that are given the same, and no others', async () => {
    const counters = new Counters();
    const results = await runContract(contract, (given: Given) =>
      given === 'small' ? Promise.reject(new Error('no disk')) : counters.open(),
    );
    expect(outcomes(results)).to.deep.equal([
      'case 1: Error: no disk',
      'case 2: passed',
      'case 3: Error: no disk',
    ]);
    expect(counters).to.include({ opened: 1, disposed: 1 });
  });
});
