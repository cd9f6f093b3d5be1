import type { CaseResult, Contract, ContractCase, Open, Subject } from './contract.js';
import { within } from './settle.js';
import { SuiteSubjects, type OpenSubject } from './suite-subjects.js';

/** Which cases run, how long they may take, and how large the largest is. */
export interface RunOptions {
  /** Drops the cases that it returns false for. Default: all run. */
  readonly only?: ((name: string, topic: string | undefined) => boolean) | undefined;
  /**
   * Optional parts that the subject lacks on purpose, such as `shared`: drops the cases that need one. A subject that
   * has one fails. Default: such cases are skipped, each with the reason.
   */
  readonly without?: readonly string[] | undefined;
  /**
   * How long a case may take, in milliseconds; also how long opening and disposing of its subject may take. Default:
   * 30,000. A case that takes longer fails, and the others run. `Infinity` is for debuggers.
   */
  readonly timeLimit?: number | undefined;
  /** How many animals the largest case has. Default: 10,000. Use fewer for stores that take too long to fill. */
  readonly animals?: number | undefined;
}

export const DEFAULT_TIME_LIMIT = 30_000;
const DEFAULT_ANIMALS = 10_000;

/**
 * Runs the cases of a contract one after another, without a test runner. A case that fails or takes too long is a
 * result like others; so is a subject that does not open.
 * @returns the results, in the order of the cases
 */
export async function runContract<Tested extends Subject, Given extends string = never>(
  contract: Contract<Tested, Given>,
  open: Open<Tested, Given>,
  options: RunOptions = {},
): Promise<readonly CaseResult[]> {
  const suite = new Suite(contract, open, options);
  const results: CaseResult[] = [];
  try {
    for (const each of suite.cases) results.push(await suite.run(each));
    return results;
  } finally {
    await suite.close();
  }
}

type Verdict = Pick<CaseResult, 'outcome' | 'error' | 'reason'>;

/** The cases of a contract that are to run, and their verdicts. The README has the steps of a run. */
export class Suite<Tested extends Subject, Given extends string> {
  readonly cases: readonly ContractCase<Tested, Given>[];
  readonly #subjects: SuiteSubjects<Tested, Given>;
  readonly #timeLimit: number;
  readonly #animals: number;

  constructor(contract: Contract<Tested, Given>, open: Open<Tested, Given>, options: RunOptions) {
    const { only = () => true, without = [] } = options;
    const excludedOf = ({ needs = [] }: ContractCase<Tested, Given>) =>
      needs.filter((part) => without.includes(part.name));
    const chosen = contract.cases.filter(({ name, topic }) => only(name, topic));
    this.cases = chosen.filter((each) => excludedOf(each).length === 0);
    this.#timeLimit = options.timeLimit ?? DEFAULT_TIME_LIMIT;
    this.#animals = options.animals ?? DEFAULT_ANIMALS;
    this.#subjects = new SuiteSubjects(contract, open, {
      timeLimit: this.#timeLimit,
      excluded: (given) => chosen.filter((each) => each.given === given).flatMap(excludedOf),
    });
  }

  /** Never rejects. */
  async run(contractCase: ContractCase<Tested, Given>): Promise<CaseResult> {
    const began = performance.now();
    let verdict: Verdict;
    try {
      verdict = await this.#judge(contractCase);
    } catch (error) {
      verdict = { outcome: 'failed', error };
    }
    return { name: contractCase.name, ...verdict, milliseconds: performance.now() - began };
  }

  /** Disposes of shared subjects. */
  close(): Promise<void> {
    return this.#subjects.close();
  }

  async #judge(contractCase: ContractCase<Tested, Given>): Promise<Verdict> {
    const { misfit } = this.#subjects;
    if (misfit !== undefined) return { outcome: 'skipped', reason: misfit };

    const { given } = contractCase;
    const subject = await this.#subjects.take(given);
    const verdict = await this.#judgeOn(subject, contractCase);
    try {
      if (given === undefined) await subject.dispose();
    } catch (error) {
      if (verdict.outcome !== 'failed') throw error; // the first error matters more
    }
    return verdict;
  }

  async #judgeOn(
    { tested, recorder }: OpenSubject<Tested>,
    { needs = [], run }: ContractCase<Tested, Given>,
  ): Promise<Verdict> {
    recorder.clear();
    try {
      const [reason] = needs.flatMap((part) => part.missing(tested) ?? []);
      if (reason !== undefined) return { outcome: 'skipped', reason };
      const running = run(tested, { animals: this.#animals });
      await within(this.#timeLimit, 'the case did not end', running);
      return { outcome: 'passed' };
    } catch (error) {
      // Before disposing, which calls the subject, too.
      return { outcome: 'failed', error: recorder.explain(error) };
    }
  }
}
