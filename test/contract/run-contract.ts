import type { CaseResult, Contract, Open, Subject } from './contract.js';
import { suiteOf, type RunOptions } from './suite.js';

/** Which cases are run, and who hears of them. */
export interface RunContractOptions extends RunOptions {
  /** Leaves out, without a word, the cases whose name is not wanted. */
  readonly only?: ((name: string) => boolean) | undefined;
  /** Told of each result as soon as it is there, with the number of results that there will be; awaited. */
  readonly onResult?: ((result: CaseResult, count: number) => unknown) | undefined;
  /** Once it is aborted no other case is begun: the run rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Holds what `open` opens to a contract without any test runner: every case, one after the other. A case that
 * fails, or never ends, is a result like others, a fault in opening or disposing too.
 * @returns the results, in the order of the cases
 */
export async function runContract<S extends Subject, Given extends string = never>(
  contract: Contract<S, Given>,
  open: Open<S, Given>,
  { only = () => true, onResult, signal, ...options }: RunContractOptions = {},
): Promise<readonly CaseResult[]> {
  const suite = suiteOf(contract, open, options);
  const cases = suite.cases.filter(({ name }) => only(name));
  const results: CaseResult[] = [];
  try {
    for (const { run } of cases) {
      signal?.throwIfAborted();
      const result = await run();
      results.push(result);
      await onResult?.(result, cases.length);
    }
    return results;
  } finally {
    await suite.close();
  }
}
