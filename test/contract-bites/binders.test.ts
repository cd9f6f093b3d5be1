import { expect } from 'chai';
import { bindContract, type TestRunner } from '../contract/bind-contract.js';
import { bindToJest } from '../contract/bind-to-jest.js';
import type { Contract, Subject } from '../contract/contract.js';

const contract: Contract<Subject> = {
  port: 'Box',
  cases: [
    { name: 'opens', topic: 'lids', run: async () => {} },
    { name: 'holds water', run: () => Promise.reject(new Error('it leaks')) },
    { name: 'closes', topic: 'lids', unless: () => 'it has no lid', run: async () => {} },
    {
      name: 'floats',
      needs: { name: 'light', isDeclared: () => false, canBeTried: () => true },
      run: async () => {},
    },
  ],
};

const open = async (): Promise<Subject> => ({ dispose: async () => {} });

/** What a stand-in for a test runner was told to declare, and ran. */
class Recording {
  readonly lines: string[] = [];
  readonly #tests: { title: string; body: (...context: unknown[]) => Promise<void>; depth: number }[] = [];
  readonly #afters: (() => Promise<void>)[] = [];
  #depth = 0;

  readonly describe = (title: string, body: () => void): void => {
    this.lines.push(`${'  '.repeat(this.#depth)}${title}`);
    this.#depth += 1;
    body();
    this.#depth -= 1;
  };

  readonly it = Object.assign(
    (title: string, body: (...context: unknown[]) => Promise<void>): void => {
      expect(body.length, 'a parameter would be taken for a callback').to.equal(0);
      this.lines.push(`${'  '.repeat(this.#depth)}- ${title}`);
      this.#tests.push({ title, body, depth: this.#depth });
    },
    { skip: (title: string) => void this.lines.push(`${'  '.repeat(this.#depth)}- skipped: ${title}`) },
  );

  readonly after = (body: () => Promise<void>): void => void this.#afters.push(body);

  /** Runs the tests; `contextOf` makes what the runner hands to a body, and may note into the line. */
  async run(
    contextOf: (line: { text: string }) => { self?: unknown; context?: unknown },
  ): Promise<readonly string[]> {
    const ran: string[] = [];
    for (const { title, body } of this.#tests) {
      const line = { text: title };
      const { self, context } = contextOf(line);
      const end = await body.call(self, ...(context === undefined ? [] : [context])).then(
        () => 'ended',
        (error: Error) => `threw ${error.message}`,
      );
      ran.push(`${line.text}: ${end}`);
    }
    for (const body of this.#afters) await body();
    return ran;
  }
}

describe('bindContract', () => {
  it('declares one test for each case, below its port, and below its topic if it has one', () => {
    const recording = new Recording();
    bindContract(contract, open, recording);
    expect(recording.lines).to.deep.equal([
      'keeps the contract of Box',
      '  lids',
      '    - opens',
      '    - closes',
      '  - holds water',
      '  - floats',
    ]);
  });

  it('skips by the context of mocha, the reason in the title, and sets its time-out', async () => {
    const recording = new Recording();
    bindContract(contract, open, recording, { timeLimit: 1000 });
    const timeouts: number[] = [];
    const ran = await recording.run((line) => ({
      self: {
        test: {
          get title() {
            return line.text;
          },
          set title(title: string) {
            line.text = title;
          },
        },
        timeout: (milliseconds: number) => timeouts.push(milliseconds),
        skip() {
          throw new Error('pending');
        },
      },
    }));
    expect(ran).to.deep.equal([
      'opens: ended',
      'closes (skipped: it has no lid): threw pending',
      'holds water: threw it leaks',
      'floats (note: kept, though the adapter does not declare itself light): ended',
    ]);
    expect(timeouts).to.deep.equal([4000, 4000, 4000, 4000]);
  });

  it('skips and notes by the context that node:test and vitest hand over', async () => {
    for (const noting of ['diagnostic', 'annotate']) {
      const recording = new Recording();
      bindContract(contract, open, recording);
      const ran = await recording.run((line) => ({
        // That of vitest is a function.
        context: Object.assign(noting === 'annotate' ? () => {} : {}, {
          skip: (reason: string) => void (line.text += ` [skipped: ${reason}]`),
          [noting]: async (text: string) => void (line.text += ` [${text.replace(/^note: /, '')}]`),
        }),
      }));
      expect(ran).to.deep.equal([
        'opens: ended',
        'closes [skipped: it has no lid]: ended',
        'holds water: threw it leaks',
        'floats [kept, though the adapter does not declare itself light]: ended',
      ]);
    }
  });

  it('says so where a runner cannot skip a test that runs, rather than let it pass', async () => {
    const recording = new Recording();
    bindContract(contract, open, recording);
    const ran = await recording.run(() => ({ self: {} }));
    expect(ran[0]).to.equal(
      'opens: threw This test runner cannot skip a test that runs already: use bindToJest',
    );
  });

  it('disposes of shared subjects after all tests, and needs to be told how', async () => {
    const events: string[] = [];
    const sharing: Contract<Subject> = {
      port: 'Box',
      sharesSubjects: true,
      cases: ['one', 'two'].map((name) => ({ name, run: async () => void events.push(name) })),
    };
    const opening = async (): Promise<Subject> => {
      events.push('open');
      return { dispose: async () => void events.push('dispose') };
    };
    const recording = new Recording();
    bindContract(sharing, opening, recording);
    await recording.run(() => ({ context: { skip() {} } }));
    expect(events).to.deep.equal(['open', 'one', 'two', 'dispose']);
    const { describe, it } = recording;
    expect(() => bindContract(sharing, opening, { describe, it })).to.throw(
      TypeError,
      "the test runner's after",
    );
  });

  it('takes the globals of a runner that has them', () => {
    const recording = new Recording();
    const globals: Partial<TestRunner> = globalThis;
    const { describe, it } = globals;
    Object.assign(globalThis, { describe: recording.describe, it: recording.it });
    try {
      bindContract(contract, open);
      expect(recording.lines).to.have.length(6);
      Object.assign(globalThis, { describe: undefined, it: undefined });
      expect(() => bindContract(contract, open)).to.throw(TypeError, 'No describe and it are global');
    } finally {
      Object.assign(globalThis, { describe, it });
    }
  });
});

describe('bindToJest', () => {
  it('looks first what is owed, and declares the rest as skipped, with the reason in the title', async () => {
    const recording = new Recording();
    let subjects = 0;
    await bindToJest(
      contract,
      async () => {
        subjects += 1;
        return { dispose: async () => void (subjects -= 1) };
      },
      recording,
    );
    expect(recording.lines).to.deep.equal([
      'keeps the contract of Box',
      '  lids',
      '    - opens',
      '    - skipped: closes (skipped: it has no lid)',
      '  - holds water',
      '  - skipped: floats (skipped: the adapter does not declare itself light)',
    ]);
    expect(await recording.run(() => ({}))).to.deep.equal(['opens: ended', 'holds water: threw it leaks']);
    expect(subjects).to.equal(0);
  });

  it('asks for no capability of what is not offered at all', async () => {
    const recording = new Recording();
    const lacking: Contract<Subject> = {
      port: 'Box',
      cases: [
        {
          name: 'locks',
          unless: () => 'it has no lid',
          needs: {
            name: 'safe',
            isDeclared() {
              throw new Error('there is no lid to ask');
            },
            canBeTried: () => true,
          },
          run: async () => {},
        },
      ],
    };
    await bindToJest(lacking, open, recording);
    expect(recording.lines[1]).to.equal('  - skipped: locks (skipped: it has no lid)');
  });

  it('fails where no subject can be opened to look', async () => {
    const bound = bindToJest(contract, () => Promise.reject(new Error('no disk')), new Recording());
    expect(await bound.catch((error: Error) => error.message)).to.equal('no disk');
  });
});
