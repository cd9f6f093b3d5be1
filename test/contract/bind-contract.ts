import type { CaseResult, Contract, Open, Subject } from './contract.js';
import { reportable } from './reportable.js';
import { DEFAULT_TIME_LIMIT, suiteOf, type RunOptions, type Suite, type SuiteCase } from './suite.js';

/**
 * What a test runner has to bring. mocha, node:test, vitest and jest have it as it is, by import or as globals;
 * `after` is `afterAll` in some.
 */
export interface TestRunner {
  /** Declares a group of tests: `body` declares them, at once. */
  readonly describe: (title: string, body: () => void) => unknown;
  /** Declares a test, which fails when its body rejects; `timeout` in milliseconds. */
  readonly it: (title: string, body: (...context: unknown[]) => Promise<void>, timeout?: number) => unknown;
  /** Needed by contracts whose cases share what they run on: that of the HTTP interface. */
  readonly after?: ((body: () => Promise<void>) => unknown) | undefined;
}

/**
 * Binds a contract to mocha, node:test or vitest (for jest there is `bindToJest`): declares one test for each
 * case. A case that is not owed stays visible: skipped, with the reason. What a result has to note (promises
 * kept that were not declared) stands by the test: in its title, its annotations or its diagnostics.
 * @param runner the test runner's functions; its globals when left out
 */
export function bindContract<S extends Subject, Given extends string = never>(
  contract: Contract<S, Given>,
  open: Open<S, Given>,
  runner: TestRunner = globalsOfRunner(),
  options: RunOptions = {},
): void {
  const suite = suiteOf(contract, open, options);
  declareSuite(contract, suite, runner, ({ name, run }) => {
    const timeout = runnerTimeout(options);
    // Its length is 0: mocha and jest take a parameter for a callback.
    async function body(this: unknown, ...[context]: unknown[]): Promise<void> {
      const test = runningTest(this, context);
      test.setTimeout(timeout);
      const result = await run();
      if (result.outcome === 'failed') throw reportable(result.error);
      if (result.outcome === 'skipped') return test.skip(result.reason);
      for (const note of notesOf(result)) await test.note(note);
    }
    runner.it(name, body, timeout);
  });
}

/** Declares a suite's cases below its port, and below their topics where they have some. */
export function declareSuite(
  { sharesSubjects }: Pick<Contract<Subject>, 'sharesSubjects'>,
  suite: Suite,
  { describe, after }: TestRunner,
  declare: (suiteCase: SuiteCase, index: number) => void,
): void {
  if (sharesSubjects && after === undefined) {
    throw new TypeError(`The contract of ${suite.port} needs the test runner's after, too`);
  }
  const byTopic = Map.groupBy(suite.cases.entries(), ([, { topic }]) => topic);
  describe(`keeps the contract of ${suite.port}`, () => {
    if (sharesSubjects) after?.(() => suite.close());
    for (const [topic, cases] of byTopic) {
      const declareAll = (): void => cases.forEach(([index, suiteCase]) => declare(suiteCase, index));
      if (topic === undefined) declareAll();
      else describe(topic, declareAll);
    }
  });
}

/** A runner's own limit must not come before the suite's: that says which case it is, and goes on. */
export const runnerTimeout = ({ timeLimit = DEFAULT_TIME_LIMIT }: RunOptions): number =>
  // To open, to run, to dispose; below 2^31, from which on timers go off at once.
  Math.min(timeLimit * 3 + 1000, 2 ** 31 - 1);

const notesOf = ({ notes, capability }: CaseResult): readonly string[] => [
  ...notes,
  ...(capability && !capability.declared
    ? [`kept, though the adapter does not declare itself ${capability.name}`]
    : []),
];

/** A test while it runs, whatever runs it. */
interface RunningTest {
  setTimeout(milliseconds: number): void;
  skip(reason: string): void;
  note(text: string): unknown;
}

/** The part of the runners' contexts that is used: mocha's `this`, node:test's and vitest's first argument. */
interface RunnerContext {
  skip(reason?: string): void;
  timeout?(milliseconds: number): unknown;
  test?: { title: string };
  diagnostic?(text: string): void;
  annotate?(text: string): Promise<unknown>;
}

function runningTest(self: unknown, argument: unknown): RunningTest {
  const context = [argument, self].find(canSkip);
  if (context === undefined) {
    throw new TypeError('This test runner cannot skip a test that runs already: use bindToJest');
  }
  const { test } = context;
  return {
    setTimeout: (milliseconds) => context.timeout?.(milliseconds),
    skip(reason) {
      if (test) test.title += ` (skipped: ${reason})`;
      context.skip(reason);
    },
    note(text) {
      if (test) test.title += ` (note: ${text})`;
      context.diagnostic?.(`note: ${text}`);
      return context.annotate?.(text);
    },
  };
}

/** The context of vitest is a function. */
const canSkip = (context: unknown): context is RunnerContext =>
  ((typeof context === 'object' && context !== null) || typeof context === 'function') &&
  'skip' in context &&
  typeof context.skip === 'function';

/** `describe`, `it` and `after` or `afterAll` of a test runner that makes them global. */
export function globalsOfRunner(): TestRunner {
  const { describe, it, after, afterAll } = globalThis as Partial<TestRunner> & {
    readonly afterAll?: TestRunner['after'];
  };
  if (describe === undefined || it === undefined) {
    throw new TypeError('No describe and it are global here: hand over those of the test runner');
  }
  return { describe, it, after: after ?? afterAll };
}
