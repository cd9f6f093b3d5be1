import {
  DEFAULT_ANIMALS,
  type CaseContext,
  type CaseResult,
  type Contract,
  type ContractCase,
  type Open,
  type Subject,
} from './contract.js';
import { within } from './time-limit.js';

/** How patient a run is, and how large its largest case. */
export interface RunOptions {
  /**
   * How long a case may take in milliseconds, and opening its subject and disposing of it as well: 30,000 when
   * left out. A case that takes longer has failed, and the others go on. (What keeps the thread to itself
   * cannot be stopped by it.) `Infinity` is for debuggers.
   */
  readonly timeLimit?: number | undefined;
  /**
   * How many animals the case has that walks through a great many: 10,000 when left out. Fewer are for stores
   * that would take too long to fill; the result says so.
   */
  readonly animals?: number | undefined;
}

export const DEFAULT_TIME_LIMIT = 30_000;

/** A contract and what is held to it, for whatever runs the cases. */
export interface Suite {
  readonly port: string;
  readonly cases: readonly SuiteCase[];
  /** Why each case is not owed, in their order, as far as that can be told without running them. */
  notOwed(): Promise<readonly (string | undefined)[]>;
  /** Disposes of subjects that several cases had. Only those of contracts with `sharesSubjects` are left. */
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
  { timeLimit = DEFAULT_TIME_LIMIT, animals = DEFAULT_ANIMALS }: RunOptions = {},
): Suite {
  const opened = async (given: Given): Promise<S> => {
    const opening = open(given);
    try {
      return await within(timeLimit, 'the subject was not opened', opening);
    } catch (error) {
      void opening.then((subject) => subject.dispose()).catch(() => {}); // should it still come
      throw error;
    }
  };
  const dispose = (subject: S): Promise<void> =>
    within(timeLimit, 'the subject was not disposed of', subject.dispose());

  const shared = new Map<Given, Promise<S>>();
  const subjectFor = (given: Given): Promise<S> => {
    if (!contract.sharesSubjects) return opened(given);
    const subject = shared.get(given) ?? opened(given);
    shared.set(given, subject);
    return subject;
  };
  const release = async (subject: S): Promise<void> => {
    if (!contract.sharesSubjects) await dispose(subject);
  };

  /** Runs the case on a subject; an outcome, or what it failed with is thrown. */
  async function judge(
    contractCase: ContractCase<S, Given>,
    subject: S,
    context: CaseContext,
  ): Promise<Judgement> {
    const { needs, unless, run } = contractCase;
    const reason = unless?.(subject);
    if (reason !== undefined) return { outcome: 'skipped', reason };
    const running = (): Promise<void> => within(timeLimit, 'the case did not end', run(subject, context));
    const capability = needs && { name: needs.name, declared: needs.isDeclared(subject) };
    if (capability === undefined || capability.declared) {
      await running();
      return { outcome: 'passed', ...(capability && { capability }) };
    }
    const undeclared = { reason: notDeclared(capability.name), capability } as const;
    if (!needs?.canBeTried(subject)) return { outcome: 'skipped', ...undeclared };
    return running().then(
      () => ({ outcome: 'passed', capability }),
      () => ({ outcome: 'skipped', ...undeclared }),
    );
  }

  return {
    port: contract.port,
    cases: contract.cases.map((contractCase) => ({
      name: contractCase.name,
      topic: contractCase.topic,
      async run() {
        const began = performance.now();
        const notes: string[] = [];
        const context: CaseContext = { animals, note: (text) => void notes.push(text) };
        const end = (judgement: Judgement): CaseResult => ({
          name: contractCase.name,
          ...judgement,
          notes,
          milliseconds: performance.now() - began,
        });
        try {
          const subject = await subjectFor(contractCase.given as Given);
          let judgement: Judgement;
          try {
            judgement = await judge(contractCase, subject, context);
          } catch (error) {
            await release(subject).catch(() => {}); // what went wrong first matters more
            throw error;
          }
          await release(subject);
          return end(judgement);
        } catch (error) {
          return end({ outcome: 'failed', error });
        }
      },
    })),
    async notOwed() {
      const subjects = new Map<Given, S>();
      const reasons: (string | undefined)[] = [];
      for (const { given, needs, unless } of contract.cases) {
        const subject = subjects.get(given as Given) ?? (await subjectFor(given as Given));
        subjects.set(given as Given, subject);
        let reason = unless?.(subject);
        // Asked only where it is offered at all.
        if (reason === undefined && needs && !needs.isDeclared(subject)) reason = notDeclared(needs.name);
        reasons.push(reason);
      }
      for (const subject of subjects.values()) await release(subject);
      return reasons;
    },
    async close() {
      const subjects = await Promise.allSettled(shared.values());
      // What did not open has failed its cases.
      for (const result of subjects) if (result.status === 'fulfilled') await dispose(result.value);
      shared.clear();
    },
  };
}

type Capable = Pick<CaseResult, 'capability'>;

type Judgement = Capable &
  (
    | { readonly outcome: 'passed' }
    | { readonly outcome: 'failed'; readonly error: unknown }
    | { readonly outcome: 'skipped'; readonly reason: string }
  );

const notDeclared = (capability: string): string => `the adapter does not declare itself ${capability}`;
