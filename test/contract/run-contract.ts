import {
  missingIn,
  type CaseResult,
  type Contract,
  type ContractCase,
  type Open,
  type Subject,
} from './contract.js';
import { Recorder } from './recorder.js';

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

/** A subject with the recorder of its calls. */
interface OpenSubject<Tested extends Subject> {
  readonly tested: Tested;
  readonly recorder: Recorder;
  readonly dispose: () => Promise<void>;
}

type Verdict = Pick<CaseResult, 'outcome' | 'error' | 'reason'>;

/** The cases of a contract that are to run, and the subjects that they run on. */
export class Suite<Tested extends Subject, Given extends string> {
  readonly cases: readonly ContractCase<Tested, Given>[];
  /** Those that `without` drops. */
  readonly #dropped: readonly ContractCase<Tested, Given>[];
  readonly #without: readonly string[];
  readonly #contract: Contract<Tested, Given>;
  readonly #open: Open<Tested, Given>;
  readonly #timeLimit: number;
  readonly #animals: number;
  readonly #shared = new Map<Given, Promise<OpenSubject<Tested>>>();
  /** Why the subject is none of this contract, so that no case can run. */
  #unfit: string | undefined;

  constructor(contract: Contract<Tested, Given>, open: Open<Tested, Given>, options: RunOptions) {
    const { only = () => true, without = [] } = options;
    const isWithout = ({ needs = [] }: ContractCase<Tested, Given>): boolean =>
      needs.some((part) => without.includes(part.name));
    const chosen = contract.cases.filter(({ name, topic }) => only(name, topic));
    this.cases = chosen.filter((each) => !isWithout(each));
    this.#dropped = chosen.filter(isWithout);
    this.#without = without;
    this.#contract = contract;
    this.#open = open;
    this.#timeLimit = options.timeLimit ?? DEFAULT_TIME_LIMIT;
    this.#animals = options.animals ?? DEFAULT_ANIMALS;
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
  async close(): Promise<void> {
    const subjects = [...this.#shared.values()];
    this.#shared.clear();
    const disposing = subjects.map(async (opening) => {
      const subject = await opening.catch(() => undefined); // it has failed its cases
      await subject?.dispose();
    });
    await settleAll(disposing);
  }

  async #judge({ given, needs = [], run }: ContractCase<Tested, Given>): Promise<Verdict> {
    if (this.#unfit !== undefined) return { outcome: 'skipped', reason: this.#unfit };
    const { tested, recorder, dispose } = await this.#subjectFor(given as Given);
    recorder.clear();
    let verdict: Verdict = { outcome: 'passed' };
    try {
      const [reason] = needs.flatMap((part) => part.missing(tested) ?? []);
      if (reason !== undefined) verdict = { outcome: 'skipped', reason };
      else await this.#inTime('the case did not end', run(tested, { animals: this.#animals }));
    } catch (error) {
      // Before disposing, which calls the subject, too.
      verdict = { outcome: 'failed', error: recorder.explain(error) };
    }
    if (this.#contract.sharesSubjects) return verdict;
    try {
      await dispose();
    } catch (error) {
      if (verdict.outcome !== 'failed') throw error; // the first error matters more
    }
    return verdict;
  }

  #subjectFor(given: Given): Promise<OpenSubject<Tested>> {
    if (!this.#contract.sharesSubjects) return this.#openSubject(given);
    const subject = this.#shared.get(given) ?? this.#openSubject(given);
    this.#shared.set(given, subject);
    return subject;
  }

  async #openSubject(given: Given): Promise<OpenSubject<Tested>> {
    const { adopt } = this.#contract;
    const opening = this.#open(given);
    let subject: Tested;
    try {
      subject = await this.#inTime('the subject did not open', opening);
    } catch (error) {
      void opening.then((late) => late.dispose()).catch(() => {}); // in case it still opens
      throw error;
    }
    this.#unfit = this.#faultOf(subject, given);
    if (this.#unfit !== undefined) {
      await subject.dispose?.();
      throw new Error(`${this.#unfit}: no case can run`);
    }
    const adopted = adopt?.(subject) ?? subject;
    const recorder = new Recorder();
    const dispose = () => this.#inTime('the subject was not disposed of', adopted.dispose());
    return { tested: recorder.record(adopted), recorder, dispose };
  }

  /** Why the subject is none of this contract. */
  #faultOf(subject: Tested, given: Given): string | undefined {
    const missing = missingIn(subject, 'dispose');
    if (missing !== undefined) return missing;
    return this.#contract.lacks?.(subject) ?? this.#presentIn(subject, given);
  }

  /** Which part a subject has though `without` names it. */
  #presentIn(subject: Tested, given: Given): string | undefined {
    const inThisSituation = this.#dropped.filter((each) => each.given === given);
    const present = inThisSituation
      .flatMap(({ needs = [] }) => needs)
      .find((part) => this.#without.includes(part.name) && part.missing(subject) === undefined);
    return present && `the subject has \`${present.name}\`, which \`without\` names`;
  }

  #inTime<Result>(what: string, work: Promise<Result>): Promise<Result> {
    return within(this.#timeLimit, what, work);
  }
}

/** Waits for all, then rejects with the first error. */
export async function settleAll(work: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(work);
  await Promise.all(work);
}

/** Resolves or rejects as `work` does; rejects when it takes longer. */
export async function within<Result>(
  milliseconds: number,
  what: string,
  work: Promise<Result>,
): Promise<Result> {
  if (milliseconds === Infinity) return work;
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const error = new Error(`${what} within ${milliseconds / 1000} s`);
  const timer = setTimeout(() => reject(error), milliseconds);
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
