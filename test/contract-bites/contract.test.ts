import { expect } from 'chai';
import { bindToMocha, type MochaContext } from '../contract/bind-to-mocha.js';
import { runContract, type Contract, type Subject } from '../contract/contract.js';

interface Counter extends Subject {
  count: number;
}

const contract: Contract<Counter> = {
  port: 'Counter',
  cases: [
    {
      name: 'begins at 0',
      async run(counter) {
        if (counter.count !== 0) throw new Error(`it began at ${counter.count}`);
        counter.count += 1;
      },
    },
    {
      name: 'is never there',
      unless: ({ count }) => (count < 1 ? 'it declares less than 1' : undefined),
      run: () => Promise.reject(new Error('not owed')),
    },
    { name: 'fails', run: () => Promise.reject(new Error('broken')) },
    { name: 'begins at 0 again', run: async (counter) => expect(counter.count).to.equal(0) && undefined },
  ],
};

describe('runContract', () => {
  it('gives every case a fresh subject, and disposes of each, also when the case fails or is not owed', async () => {
    let open = 0;
    const results = await runContract(contract, async () => {
      open += 1;
      return {
        count: 0,
        async dispose() {
          open -= 1;
        },
      };
    });
    expect(results.map(({ outcome }) => outcome)).to.deep.equal(['passed', 'skipped', 'failed', 'passed']);
    expect(results[1]).to.have.property('reason', 'it declares less than 1');
    expect(results[2]).to.have.property('error').with.property('message', 'broken');
    expect(open).to.equal(0);
  });

  it('fails every case when the subject cannot be opened or disposed of', async () => {
    const fault = new Error('no disk');
    const unopened = await runContract(contract, () => Promise.reject(fault));
    expect(unopened.map(({ outcome }) => outcome)).to.deep.equal(['failed', 'failed', 'failed', 'failed']);
    const undisposed = await runContract(contract, async () => ({
      count: 0,
      dispose: () => Promise.reject(fault),
    }));
    expect(undisposed[0]).to.deep.equal({ name: 'begins at 0', outcome: 'failed', error: fault });
  });
});

/** Stands for mocha: runs what is declared, and notes what became of it. */
async function bindToStandIn(): Promise<readonly string[]> {
  const outcomes: string[] = [];
  const bodies: (() => Promise<void>)[] = [];
  bindToMocha(contract, async () => ({ count: 0, dispose: async () => {} }), {
    describe(title, body) {
      outcomes.push(title);
      body();
    },
    it(title, body) {
      const context: MochaContext = {
        test: { title },
        skip() {
          throw new Error('pending');
        },
      };
      bodies.push(() =>
        body.call(context).then(
          () => void outcomes.push(`passed: ${context.test?.title}`),
          (error: Error) => void outcomes.push(`${error.message}: ${context.test?.title}`),
        ),
      );
    },
  });
  for (const body of bodies) await body();
  return outcomes;
}

describe('bindToMocha', () => {
  it('declares one test for each case; what is not owed is pending, with the reason in its title', async () => {
    expect(await bindToStandIn()).to.deep.equal([
      'keeps the contract of Counter',
      'passed: begins at 0',
      'pending: is never there (not owed: it declares less than 1)',
      'broken: fails',
      'passed: begins at 0 again',
    ]);
  });
});
