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
export async function runContract<S extends Subject, Given extends string = never>(
  contract: Contract<S, Given>,
  open: Open<S, Given>,
  options: RunOptions = {},
): Promise<readonly CaseResult[]> {
  const suite = suiteOf(contract, open, options);
  const results: CaseResult[] = [];
  try {
    for (const { run } of suite.cases) results.push(await run());
    return results;
  } finally {
    await suite.close();
  }
}

/** A subject as the cases use it, with their last calls. */
interface OpenSubject<S extends Subject> extends Subject {
  readonly recorded: S;
  readonly recorder: Recorder;
}

/** A contract together with its subjects. */
interface Suite {
  readonly cases: readonly SuiteCase[];
  /** Disposes of shared subjects. */
  close(): Promise<void>;
}

export interface SuiteCase {
  readonly name: string;
  readonly topic: string | undefined;
  /** Never rejects. */
  readonly run: () => Promise<CaseResult>;
}

export function suiteOf<S extends Subject, Given extends string = never>(
  contract: Contract<S, Given>,
  open: Open<S, Given>,
  { only = () => true, timeLimit = DEFAULT_TIME_LIMIT, animals = DEFAULT_ANIMALS }: RunOptions = {},
): Suite {
  const cases = contract.cases.filter(({ name, topic }) => only(name, topic));
  const shared = new Map<Given, Promise<OpenSubject<S>>>();
  let unfit: string | undefined;

  async function openSubject(given: Given): Promise<OpenSubject<S>> {
    const opening = open(given);
    let subject: S;
    try {
      subject = await within(timeLimit, 'the subject did not open', opening);
    } catch (error) {
      void opening.then((late) => late.dispose()).catch(() => {}); // in case it still opens
      throw error;
    }
    unfit = missingIn(subject, 'dispose') ?? contract.lacks?.(subject);
    if (unfit !== undefined) {
      await subject.dispose?.();
      throw new Error(`${unfit}: no case can run`);
    }
    const adopted = contract.adopt?.(subject) ?? subject;
    const recorder = new Recorder();
    return { recorded: recorder.record(adopted), recorder, dispose: () => adopted.dispose() };
  }
  const dispose = (subject: Subject): Promise<void> =>
    within(timeLimit, 'the subject was not disposed of', subject.dispose());
  const subjectFor = (given: Given): Promise<OpenSubject<S>> => {
    if (!contract.sharesSubjects) return openSubject(given);
    const subject = shared.get(given) ?? openSubject(given);
    shared.set(given, subject);
    return subject;
  };
  const release = async (subject: Subject): Promise<void> => {
    if (!contract.sharesSubjects) await dispose(subject);
  };

  async function judge({
    given,
    unless,
    run,
  }: ContractCase<S, Given>): Promise<Omit<CaseResult, 'name' | 'milliseconds'>> {
    if (unfit !== undefined) return { outcome: 'skipped', reason: unfit };
    try {
      const subject = await subjectFor(given as Given);
      const { recorded, recorder } = subject;
      recorder.clear();
      let reason: string | undefined;
      try {
        reason = unless?.(recorded);
        if (reason === undefined)
          await within(timeLimit, 'the case did not end', run(recorded, { animals }));
      } catch (error) {
        const explained = recorder.explain(error); // before disposing, which calls the subject, too
        await release(subject).catch(() => {}); // the first error matters more
        throw explained;
      }
      await release(subject);
      return reason === undefined ? { outcome: 'passed' } : { outcome: 'skipped', reason };
    } catch (error) {
      return { outcome: 'failed', error };
    }
  }

  return {
    cases: cases.map((contractCase) => ({
      name: contractCase.name,
      topic: contractCase.topic,
      async run() {
        const began = performance.now();
        const judgement = await judge(contractCase);
        return { name: contractCase.name, ...judgement, milliseconds: performance.now() - began };
      },
    })),
    async close() {
      const subjects = [...shared.values()];
      shared.clear();
      const disposing = subjects.map(async (opening) => {
        const subject = await opening.catch(() => undefined); // it has failed its cases
        if (subject) await dispose(subject);
      });
      await settleAll(disposing);
    },
  };
}

/** Waits for all, then rejects with the first error. */
export async function settleAll(work: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(work);
  await Promise.all(work);
}

/** Resolves or rejects as `work` does; rejects when it takes longer. */
export async function within<T>(milliseconds: number, what: string, work: Promise<T>): Promise<T> {
  if (milliseconds === Infinity) return work;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what} within ${milliseconds / 1000} s`)),
      milliseconds,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
