import { AssertionError } from 'node:assert/strict';
import { expect } from 'chai';
import type { TestRunner } from '../contract/index.js';

/** A broken adapter: the operations that differ from a sound one. */
export type Broken<Adapter, Rest extends unknown[] = []> = (
  sound: Adapter,
  ...rest: Rest
) => Partial<Adapter>;

/** Broken adapters, by the title of the case that catches them. */
export type BrokenAdapters<Adapter> = Readonly<Record<string, Readonly<Record<string, Adapter>>>>;

type Declare<Adapter> = (runner: TestRunner, broken: Adapter | undefined) => void;

const group = (_title: string, body: () => void): void => body();

/** A bug of the suite, or of the broken adapter, is not a failed check. */
const failureOf = (error: unknown) => (error instanceof AssertionError ? 'a failed check' : error);

/** Runs the cases with this title: one, or one for each port. */
async function outcomesOf(title: string, declare: (runner: TestRunner) => void) {
  const running: Promise<unknown>[] = [];
  const it = (name: string, run: () => Promise<void>) => {
    if (name === title) running.push(run().then(() => 'passed', failureOf));
  };
  declare({ describe: group, it: Object.assign(it, { skip: () => {} }) });
  return [...new Set(await Promise.all(running))];
}

/**
 * Shows that the cases of a suite pass for a sound adapter and fail for the broken ones.
 * @param declare declares the suite for a broken adapter, or for a sound one
 */
export function catches<Adapter>(all: BrokenAdapters<Adapter>, declare: Declare<Adapter>): void {
  for (const [title, brokenAdapters] of Object.entries(all))
    describe(title, () => {
      it('passes for a sound adapter', async () => {
        const outcomes = await outcomesOf(title, (runner) => declare(runner, undefined));
        expect(outcomes).to.deep.equal(['passed']);
      });

      for (const [name, broken] of Object.entries(brokenAdapters))
        it(`catches ${name}`, async () => {
          const outcomes = await outcomesOf(title, (runner) => declare(runner, broken));
          expect(outcomes).to.deep.equal(['a failed check']);
        });
    });
}
