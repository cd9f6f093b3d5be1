import {
  missingIn,
  type CaseResult,
  type Contract,
  type ContractCase,
  type Open,
  type OptionalPart,
  type Subject,
} from './contract.js';
import { closingHandles } from './open-handles.js';
import { Recorder } from './recorder.js';
import { settleAll, within } from './settle.js';

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

/** A subject as cases use it, with the recorder of its calls. */
interface OpenSubject<Tested extends Subject> {
  readonly tested: Tested;
  readonly recorder: Recorder;
  readonly dispose: () => Promise<void>;
}

/** The cases of a contract that are to run, their subjects and their verdicts. The README has the steps of a run. */
export class Suite<Tested extends Subject, Given extends string> {
  readonly cases: readonly ContractCase<Tested, Given>[];
  readonly #contract: Contract<Tested, Given>;
  readonly #open: Open<Tested, Given>;
  readonly #options: RunOptions;
  readonly #timeLimit: number;
  readonly #shared = new Map<Given, Promise<OpenSubject<Tested>>>();
  /** Why no case can run on such a subject; `undefined` as long as each was fit. */
  #misfit: string | undefined;

  constructor(contract: Contract<Tested, Given>, open: Open<Tested, Given>, options: RunOptions) {
    this.#contract = contract;
    this.#open = open;
    this.#options = options;
    this.#timeLimit = options.timeLimit ?? DEFAULT_TIME_LIMIT;
    this.cases = this.#chosen().filter((each) => this.#excludedOf(each).length === 0);
  }

  /** Never rejects. */
  async run(contractCase: ContractCase<Tested, Given>): Promise<CaseResult> {
    const began = performance.now();
    const verdict = await this.#judge(contractCase).catch(failedBy);
    return { name: contractCase.name, ...verdict, milliseconds: performance.now() - began };
  }

  /** Disposes of the shared subjects. */
  async close(): Promise<void> {
    const subjects = [...this.#shared.values()];
    this.#shared.clear();
    const disposing = subjects.map(async (opening) => {
      const subject = await opening.catch(() => undefined); // it has failed its cases
      await subject?.dispose();
    });
    await settleAll(disposing);
  }

  async #judge(contractCase: ContractCase<Tested, Given>): Promise<Verdict> {
    if (this.#misfit !== undefined) return { outcome: 'skipped', reason: this.#misfit };

    const { given } = contractCase;
    const subject = await (given === undefined ? this.#prepare(given) : this.#share(given));
    const verdict = await this.#runOn(subject, contractCase);
    if (given !== undefined) return verdict;

    try {
      await subject.dispose();
      return verdict;
    } catch (error) {
      return verdict.outcome === 'failed' ? verdict : failedBy(error); // the first error matters more
    }
  }

  async #runOn(
    { tested, recorder }: OpenSubject<Tested>,
    { needs = [], run }: ContractCase<Tested, Given>,
  ): Promise<Verdict> {
    recorder.clear();
    try {
      const [reason] = needs.flatMap((part) => part.missing(tested) ?? []);
      if (reason !== undefined) return { outcome: 'skipped', reason };
      const running = run(tested, { animals: this.#options.animals ?? DEFAULT_ANIMALS });
      await within(this.#timeLimit, 'the case did not end', running);
      return { outcome: 'passed' };
    } catch (error) {
      // Before disposing, which calls the subject, too.
      return failedBy(recorder.explain(error));
    }
  }

  /** The subject of all cases with the same `given`. */
  #share(given: Given): Promise<OpenSubject<Tested>> {
    const subject = this.#shared.get(given) ?? this.#prepare(given);
    this.#shared.set(given, subject);
    return subject;
  }

  /** A new subject. Rejects if it does not open, or is not fit for the contract. */
  async #prepare(given: Given | undefined): Promise<OpenSubject<Tested>> {
    const subject = await this.#openInTime(given);
    this.#misfit = this.#misfitOf(subject, given);
    if (this.#misfit !== undefined) {
      await this.#disposeOf(subject).catch(() => {}); // that it is unfit matters more
      throw new Error(`${this.#misfit}: no case can run`);
    }

    const closing = closingHandles(subject);
    const recorder = new Recorder();
    const dispose = () => this.#disposeOf(closing);
    return { tested: recorder.record(closing), recorder, dispose };
  }

  async #disposeOf(subject: Subject): Promise<void> {
    await within(this.#timeLimit, 'the subject was not disposed of', subject.dispose());
  }

  async #openInTime(given: Given | undefined): Promise<Tested> {
    const opening = this.#open(given as Given); // absent only where `open` ignores it
    try {
      return await within(this.#timeLimit, 'the subject did not open', opening);
    } catch (error) {
      void opening.then((late) => late.dispose()).catch(() => {}); // in case it still opens
      throw error;
    }
  }

  /** What every case needs and the subject lacks, or a part that it has and `without` names. */
  #misfitOf(subject: Tested, given: Given | undefined): string | undefined {
    const lacking = missingIn(subject, 'dispose') ?? this.#contract.lacks?.(subject);
    if (lacking !== undefined) return lacking;
    const inSituation = this.#chosen().filter((each) => each.given === given);
    const excluded = inSituation.flatMap((each) => this.#excludedOf(each));
    const present = excluded.find((part) => part.missing(subject) === undefined);
    return present && `the subject has \`${present.name}\`, which \`without\` names`;
  }

  #chosen(): readonly ContractCase<Tested, Given>[] {
    const { only = () => true } = this.#options;
    return this.#contract.cases.filter(({ name, topic }) => only(name, topic));
  }

  /** What the case needs and `without` names. */
  #excludedOf({ needs = [] }: ContractCase<Tested, Given>): readonly OptionalPart<Tested>[] {
    const { without = [] } = this.#options;
    return needs.filter((part) => without.includes(part.name));
  }
}

const failedBy = (error: unknown): Verdict => ({ outcome: 'failed', error });
