import { expect } from 'chai';
import { bindContract } from '../contract/bind-contract.js';
import assert from 'node:assert/strict';
import type { Contract, Subject } from '../contract/contract.js';

const contract: Contract<Subject> = {
  port: 'Box',
  cases: [
    { name: 'opens', topic: 'lids', run: async () => {} },
    { name: 'holds water', run: () => Promise.reject(new Error('it leaks')) },
    {
      name: 'closes',
      topic: 'lids',
      needs: [{ name: 'lid', missing: () => 'it has no lid' }],
      run: async () => {},
    },
  ],
};

const open = async (): Promise<Subject> => ({ dispose: async () => {} });

/** A test runner that records what is declared. */
class Recorder {
  readonly lines: string[] = [];
  /** What the last test threw that failed. */
  thrown: unknown;
  readonly #tests: { title: string; body: (...context: unknown[]) => Promise<void> }[] = [];
  readonly #afters: (() => Promise<void>)[] = [];
  #depth = 0;

  readonly describe = (title: string, body: () => void): void => {
    this.lines.push(`${'  '.repeat(this.#depth)}${title}`);
    this.#depth += 1;
    body();
    this.#depth -= 1;
  };

  readonly it = (title: string, body: (...context: unknown[]) => Promise<void>): void => {
    expect(body.length, 'a parameter would be a callback').to.equal(0);
    this.lines.push(`${'  '.repeat(this.#depth)}- ${title}`);
    this.#tests.push({ title, body });
  };

  readonly after = (body: () => Promise<void>): void => void this.#afters.push(body);

  /** Runs the tests. `contextOf` makes the context of each, which may add to its title. */
  async run(
    contextOf: (test: { title: string }) => { self?: unknown; context?: unknown },
  ): Promise<string[]> {
    const ran: string[] = [];
    for (const { title, body } of this.#tests) {
      const test = { title };
      const { self, context } = contextOf(test);
      let end = 'ended';
      try {
        await body.call(self, ...(context === undefined ? [] : [context]));
      } catch (error) {
        this.thrown = error;
        end = `threw ${(error as Error).message}`;
      }
      ran.push(`${test.title}: ${end}`);
    }
    for (const body of this.#afters) await body();
    return ran;
  }
}

const comparing = async (): Promise<void> => assert.deepEqual(undefined, { id: 1n, name: 'Fido' });

describe('bindContract', () => {
  it('declares a test for each case, below its topic', () => {
    const recorder = new Recorder();
    bindContract(contract, open, recorder);
    expect(recorder.lines).to.deep.equal([
      'keeps the contract of Box',
      '  lids',
      '    - opens',
      '    - closes',
      '  - holds water',
    ]);
  });

  it('skips by the context of mocha, with the reason in the title, and sets its time limit', async () => {
    const recorder = new Recorder();
    bindContract(contract, open, recorder, { timeLimit: 1000 });
    const timeouts: number[] = [];
    const ran = await recorder.run((test) => ({
      self: {
        test,
        timeout: (milliseconds: number) => timeouts.push(milliseconds),
        skip: () => {
          throw new Error('pending');
        },
      },
    }));
    expect(ran).to.deep.equal([
      'opens: ended',
      'closes (skipped: it has no lid): threw pending',
      'holds water: threw it leaks',
    ]);
    expect(timeouts).to.deep.equal([4000, 4000, 4000]);
  });

  it('skips by the contexts of node:test and vitest, of which the latter is a function', async () => {
    for (const context of [{}, () => {}]) {
      const recorder = new Recorder();
      bindContract(contract, open, recorder);
      const ran = await recorder.run((test) => ({
        context: Object.assign(context, {
          skip(reason: string) {
            test.title += ` [skipped: ${reason}]`;
          },
        }),
      }));
      expect(ran).to.deep.equal([
        'opens: ended',
        'closes [skipped: it has no lid]: ended',
        'holds water: threw it leaks',
      ]);
    }
  });

  it('fails where a runner cannot skip a running test', async () => {
    const recorder = new Recorder();
    bindContract(contract, open, recorder);
    const [first] = await recorder.run(() => ({ self: {} }));
    expect(first).to.equal(
      'opens: threw This test runner cannot skip a running test: use runContract',
    );
  });

  it('disposes of shared subjects after all tests, and needs `after` for it', async () => {
    const events: string[] = [];
    const sharing: Contract<Subject, 'full'> = {
      port: 'Box',
      cases: ['one', 'two'].map((name) => ({
        name,
        given: 'full',
        run: async () => void events.push(name),
      })),
    };
    const opening = async (): Promise<Subject> => ({
      dispose: async () => void events.push('dispose'),
    });
    const recorder = new Recorder();
    bindContract(sharing, opening, recorder);
    await recorder.run(() => ({ context: { skip() {} } }));
    expect(events).to.deep.equal(['one', 'two', 'dispose']);
    const { describe: group, it: declare } = recorder;
    expect(() => bindContract(sharing, opening, { describe: group, it: declare })).to.throw(
      TypeError,
      'after',
    );
  });

  it('throws errors whose bigints reporters can write as JSON', async () => {
    const recorder = new Recorder();
    bindContract({ port: 'Box', cases: [{ name: 'compares', run: comparing }] }, open, recorder);
    await recorder.run(() => ({ context: { skip() {} } }));
    expect(JSON.stringify(recorder.thrown), 'the error as JSON').to.be.a('string');
    expect(recorder.thrown).to.have.property('message').that.includes('id: 1n');
  });
});
