import { expect } from 'chai';
import type { TestRunner } from '../contract/index.js';

/** What replaces operations of an adapter. The others stay those of an adapter without a fault. */
export type Fault<Adapter, Rest extends unknown[] = []> = (
  adapter: Adapter,
  ...rest: Rest
) => Partial<Adapter>;

/** Typical faults, below the title of a case that catches them. */
export type Faults<Broken> = Readonly<Record<string, Readonly<Record<string, Broken>>>>;

type Declare<Broken> = (runner: TestRunner, broken: Broken | undefined) => void;

const group = (_title: string, body: () => void): void => body();

/** What comes of the cases with this title, which several groups may have. */
async function outcomesOf(title: string, declare: (runner: TestRunner) => void) {
  const running: Promise<void>[] = [];
  const it = (name: string, run: () => Promise<void>) => name === title && running.push(run());
  declare({ describe: group, it: Object.assign(it, { skip: () => {} }) });
  return (await Promise.allSettled(running)).map(({ status }) => status);
}

/**
 * Shows that a suite catches each fault: the case passes without it, and fails with it.
 * @param declare declares the suite on an adapter with this fault, or without one
 */
export function catches<Broken>(faults: Faults<Broken>, declare: Declare<Broken>): void {
  for (const [title, ofCase] of Object.entries(faults))
    describe(title, () => {
      for (const [name, broken] of Object.entries(ofCase))
        it(`catches ${name}`, async () => {
          const sound = await outcomesOf(title, (runner) => declare(runner, undefined));
          expect(new Set(sound)).to.deep.equal(new Set(['fulfilled']));
          const faulty = await outcomesOf(title, (runner) => declare(runner, broken));
          expect(new Set(faulty)).to.deep.equal(new Set(['rejected']));
        });
    });
}
