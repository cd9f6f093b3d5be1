import { assert, expect } from 'chai';
import type { Contract, Subject } from '../contract/contract.js';
import { runContract } from '../contract/run-contract.js';

/** An implementation that is wrong in exactly one way. */
export interface Bite<S> {
  /** What it does wrong, as the rest of a sentence that begins with "catches one that". */
  readonly that: string;
  /** The name of the case that has to fail. */
  readonly caughtBy: string;
  readonly open: () => Promise<S>;
}

/** Enough to show what goes wrong with a great many; every broken store has the walk. */
const ANIMALS = 1500;

/** Shows that a contract passes what keeps it and fails what breaks it. */
export function bites<S extends Subject>(
  contract: Contract<S>,
  unbroken: () => Promise<S>,
  broken: readonly Bite<S>[],
): void {
  describe(`the contract of ${contract.port}`, () => {
    it('has a name of its own for each case', () => {
      const names = contract.cases.map(({ name }) => name);
      expect(names.filter((name, index) => names.indexOf(name) !== index)).to.deep.equal([]);
    });

    it('passes one that is not broken, and owes it every case', async () => {
      const results = await runContract(contract, unbroken, { animals: ANIMALS });
      expect(results.filter(({ outcome }) => outcome !== 'passed')).to.deep.equal([]);
    });

    for (const { that, caughtBy, open } of broken) {
      it(`catches one that ${that}`, async () => {
        const results = await runContract(contract, open, { animals: ANIMALS });
        const failed = results.filter(({ outcome }) => outcome === 'failed').map(({ name }) => name);
        assert.include(failed, caughtBy);
      });
    }
  });
}
