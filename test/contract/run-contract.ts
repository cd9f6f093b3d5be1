import type { CaseResult, Contract, ContractCase, Open, Subject } from './contract.js';

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
  const shared = new Map<Given, Promise<S>>();

  async function openSubject(given: Given): Promise<S> {
    const opening = open(given);
    try {
      return await within(timeLimit, 'the subject did not open', opening);
    } catch (error) {
      void opening.then((subject) => subject.dispose()).catch(() => {}); // in case it still opens
      throw error;
    }
  }
  const dispose = (subject: S): Promise<void> =>
    within(timeLimit, 'the subject was not disposed of', subject.dispose());
  const subjectFor = (given: Given): Promise<S> => {
    if (!contract.sharesSubjects) return openSubject(given);
    const subject = shared.get(given) ?? openSubject(given);
    shared.set(given, subject);
    return subject;
  };
  const release = async (subject: S): Promise<void> => {
    if (!contract.sharesSubjects) await dispose(subject);
  };

  async function judge({
    given,
    unless,
    run,
  }: ContractCase<S, Given>): Promise<Omit<CaseResult, 'name' | 'milliseconds'>> {
    try {
      const subject = await subjectFor(given as Given);
      let reason: string | undefined;
      try {
        reason = unless?.(subject);
        if (reason === undefined)
          await within(timeLimit, 'the case did not end', run(subject, { animals }));
      } catch (error) {
        await release(subject).catch(() => {}); // the first error matters more
        throw error;
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
      // A subject that did not open has failed its cases.
      for (const result of await Promise.allSettled(shared.values())) {
        if (result.status === 'fulfilled') await dispose(result.value);
      }
      shared.clear();
    },
  };
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
