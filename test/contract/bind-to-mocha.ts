import { runCase, type Contract, type Subject } from './contract.js';

/** The part of mocha that is used; the globals of a running mocha have it. */
export interface Mocha {
  readonly describe: (title: string, body: () => void) => unknown;
  readonly it: (title: string, body: (this: MochaContext) => Promise<void>) => unknown;
}

export interface MochaContext {
  readonly test?: { title: string } | undefined;
  skip(): void;
}

/** Declares one test for each case. A case that is not owed stays visible: pending, the reason in its title. */
export function bindToMocha<S extends Subject>(
  contract: Contract<S>,
  open: () => Promise<S>,
  { describe, it }: Mocha = globalThis,
): void {
  describe(`keeps the contract of ${contract.port}`, () => {
    for (const contractCase of contract.cases) {
      it(contractCase.name, async function () {
        const result = await runCase(contractCase, open);
        if (result.outcome === 'failed') throw result.error;
        if (result.outcome === 'skipped') {
          if (this.test) this.test.title += ` (not owed: ${result.reason})`;
          this.skip();
        }
      });
    }
  });
}
