import {
  missingIn,
  type Contract,
  type Open,
  type OptionalPart,
  type Subject,
} from './contract.js';
import { Recorder } from './recorder.js';
import { settleAll, within } from './settle.js';

/** A subject as cases use it, with the recorder of its calls. */
export interface OpenSubject<Tested extends Subject> {
  readonly tested: Tested;
  readonly recorder: Recorder;
  readonly dispose: () => Promise<void>;
}

interface SubjectOptions<Tested, Given> {
  /** How long opening may take, and disposing, in milliseconds. */
  readonly timeLimit: number;
  /** The parts that subjects in a situation must not have, as `without` names them. */
  readonly excluded: (given: Given | undefined) => ReadonlyArray<OptionalPart<Tested>>;
}

/** Opens the subjects of a suite, and disposes of them: one for each case, or one that cases share. */
export class SuiteSubjects<Tested extends Subject, Given extends string> {
  /** Why no case can run on such a subject; `undefined` as long as each was fit. */
  misfit: string | undefined;
  readonly #contract: Contract<Tested, Given>;
  readonly #open: Open<Tested, Given>;
  readonly #options: SubjectOptions<Tested, Given>;
  readonly #shared = new Map<Given, Promise<OpenSubject<Tested>>>();

  constructor(
    contract: Contract<Tested, Given>,
    open: Open<Tested, Given>,
    options: SubjectOptions<Tested, Given>,
  ) {
    this.#contract = contract;
    this.#open = open;
    this.#options = options;
  }

  /** A subject for one case, or with `given` for all such cases. Rejects if it does not open, or is not fit for the contract. */
  take(given: Given | undefined): Promise<OpenSubject<Tested>> {
    if (given === undefined) return this.#prepare(given);
    const subject = this.#shared.get(given) ?? this.#prepare(given);
    this.#shared.set(given, subject);
    return subject;
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

  async #prepare(given: Given | undefined): Promise<OpenSubject<Tested>> {
    const { adopt } = this.#contract;
    const subject = await this.#openInTime(given);
    this.misfit = this.#misfitOf(subject, given);
    if (this.misfit !== undefined) {
      await subject.dispose?.();
      throw new Error(`${this.misfit}: no case can run`);
    }

    const adopted = adopt ? adopt(subject) : subject;
    const recorder = new Recorder();
    const dispose = () =>
      within(this.#options.timeLimit, 'the subject was not disposed of', adopted.dispose());
    return { tested: recorder.record(adopted), recorder, dispose };
  }

  async #openInTime(given: Given | undefined): Promise<Tested> {
    const opening = this.#open(given as Given); // absent only where `open` ignores it
    try {
      return await within(this.#options.timeLimit, 'the subject did not open', opening);
    } catch (error) {
      void opening.then((late) => late.dispose()).catch(() => {}); // in case it still opens
      throw error;
    }
  }

  /** What every case needs and the subject lacks, or the excluded part that it has. */
  #misfitOf(subject: Tested, given: Given | undefined): string | undefined {
    const lacking = missingIn(subject, 'dispose') ?? this.#contract.lacks?.(subject);
    if (lacking !== undefined) return lacking;
    const excluded = this.#options.excluded(given);
    const present = excluded.find((part) => part.missing(subject) === undefined);
    return present && `the subject has \`${present.name}\`, which \`without\` names`;
  }
}
