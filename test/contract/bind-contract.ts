import type { Contract, ContractCase, Open, Subject } from './contract.js';
import { DEFAULT_TIME_LIMIT, Suite, type RunOptions } from './run-contract.js';
import { LONGEST_TIMER } from './settle.js';

/** The functions of a test runner. mocha, node:test and vitest have them, imported or global. */
export interface TestRunner {
  /** Declares a group of tests: `body` declares them, synchronously. */
  readonly describe: (title: string, body: () => void) => unknown;
  /** Declares a test, which fails when its body rejects; `timeout` in milliseconds. */
  readonly it: (
    title: string,
    body: (...context: unknown[]) => Promise<void>,
    timeout?: number,
  ) => unknown;
  /** `afterAll` in some runners. Only contracts whose cases share subjects need it: that of the HTTP interface. */
  readonly after?: ((body: () => Promise<void>) => unknown) | undefined;
}

/**
 * Binds a contract to mocha, node:test or vitest: declares one test for each case. A case that does not apply is
 * reported as skipped, with the reason, unless `without` names what it needs.
 * @param runner Default: the globals of the test runner.
 */
export function bindContract<Tested extends Subject, Given extends string = never>(
  contract: Contract<Tested, Given>,
  open: Open<Tested, Given>,
  runner: TestRunner = globalRunner(),
  options: RunOptions = {},
): void {
  const { describe, it, after } = runner;
  const { port, cases: all } = contract;
  const sharesSubjects = all.some(({ given }) => given !== undefined);
  if (sharesSubjects && after === undefined)
    throw new TypeError(`The contract of ${port} also needs the test runner's after`);
  const suite = new Suite(contract, open, options);
  const timeout = runnerTimeout(options);
  const declare = (contractCase: ContractCase<Tested, Given>): void => {
    // Without parameters of its own: mocha would pass a callback.
    async function body(this: unknown, ...[context]: unknown[]): Promise<void> {
      const test = runningTest(this, context);
      test.setTimeout(timeout);
      const { outcome, error, reason } = await suite.run(contractCase);
      if (outcome === 'failed') throw error;
      if (reason !== undefined) test.skip(reason);
    }
    it(contractCase.name, body, timeout);
  };
  describe(`keeps the contract of ${port}`, () => {
    if (sharesSubjects) after?.(() => suite.close());
    for (const [topic, cases] of Map.groupBy(suite.cases, (each) => each.topic)) {
      if (topic === undefined) cases.forEach(declare);
      else describe(topic, () => cases.forEach(declare));
    }
  });
}

/** Longer than the suite's own limits, whose errors say more. */
const runnerTimeout = ({ timeLimit = DEFAULT_TIME_LIMIT }: RunOptions): number =>
  Math.min(timeLimit * 3 + 1000, LONGEST_TIMER);

/** What mocha's `this` and the first argument of node:test and vitest have in common, and mocha's own. */
interface RunnerContext {
  skip(reason?: string): void;
  timeout?(milliseconds: number): unknown;
  test?: { title: string };
}

/** What a test does with its context: mocha's `this`, or the first argument of node:test and vitest. */
function runningTest(self: unknown, argument: unknown) {
  const context = [argument, self].find(canSkip);
  if (context === undefined)
    throw new TypeError('This test runner cannot skip a running test: use runContract');
  return {
    setTimeout: (milliseconds: number) => context.timeout?.(milliseconds),
    skip(reason: string) {
      // mocha takes no reason.
      if (context.test) context.test.title += ` (skipped: ${reason})`;
      context.skip(reason);
    },
  };
}

/** The context of vitest is a function. */
const canSkip = (context: unknown): context is RunnerContext =>
  ((typeof context === 'object' && context !== null) || typeof context === 'function') &&
  'skip' in context &&
  typeof context.skip === 'function';

function globalRunner(): TestRunner {
  const { describe, it, after, afterAll } = globalThis as Partial<TestRunner> & {
    readonly afterAll?: TestRunner['after'];
  };
  if (describe === undefined || it === undefined) {
    throw new TypeError('There are no global describe and it: pass those of the test runner');
  }
  return { describe, it, after: after ?? afterAll };
}
