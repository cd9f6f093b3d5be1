import { declareSuite, globalsOfRunner, runnerTimeout, type TestRunner } from './bind-contract.js';
import type { Contract, Open, Subject } from './contract.js';
import { reportable } from './reportable.js';
import { suiteOf, type RunOptions } from './suite.js';

/** What jest has as globals, and `@jest/globals` exports; `afterAll` goes by the name of `after`. */
export interface JestRunner extends TestRunner {
  /** As of any runner; `skip` declares a test that is shown and not run. */
  readonly it: TestRunner['it'] & {
    readonly skip: (title: string, body: () => Promise<void>) => unknown;
  };
}

/**
 * Binds a contract to jest, which can skip a test only before it runs: to see which cases are not owed, a
 * subject is opened while the tests are declared. So it is to be awaited at the top of a test file (an ECMAScript
 * module: `node --experimental-vm-modules`). What an adapter does not declare is not tried.
 * @param runner jest's functions; its globals when left out
 */
export async function bindToJest<S extends Subject, Given extends string = never>(
  contract: Contract<S, Given>,
  open: Open<S, Given>,
  runner: JestRunner = globalsOfRunner() as JestRunner,
  options: RunOptions = {},
): Promise<void> {
  const suite = suiteOf(contract, open, options);
  const reasons = await suite.notOwed();
  declareSuite(contract, suite, runner, ({ name, run }, index) => {
    const reason = reasons[index];
    const body = async (): Promise<void> => {
      const result = await run();
      if (result.outcome === 'failed') throw reportable(result.error);
    };
    if (reason === undefined) runner.it(name, body, runnerTimeout(options));
    else runner.it.skip(`${name} (skipped: ${reason})`, body);
  });
}
