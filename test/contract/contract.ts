/** The clauses of one port as data, for any test runner: written once, checked on every adapter. */
export interface Contract<Tested extends Subject, Given extends string = never> {
  /** The name of the port. */
  readonly port: string;
  /** In the best order to read and run them. */
  readonly cases: readonly ContractCase<Tested, Given>[];
  /**
   * Returns what the subject lacks to be one of this contract, or `undefined`. The first case fails with it, and the
   * others are skipped.
   */
  readonly lacks?: (subject: Tested) => string | undefined;
}

/** One clause, and how to check it. */
export interface ContractCase<Tested, Given extends string = never> {
  /** The clause in plain words: an adapter that fails the case breaks it. Unique in its contract: the case's id. */
  readonly name: string;
  /** The heading above all cases about the same subject. */
  readonly topic?: string;
  /**
   * Passed to `Open`: how to set the subject up, where a contract knows several ways. Cases with the same `given` share
   * one subject, and leave it usable for the others. Default: the case has its own.
   */
  readonly given?: Given;
  /** What the subject must have, though it is optional: the case does not apply to a subject that lacks it. */
  readonly needs?: ReadonlyArray<{
    /** As `without` of `RunOptions` names it. */
    readonly name: string;
    /** Returns why it is missing, or `undefined` if the subject has it. */
    readonly missing: (subject: Tested) => string | undefined;
  }>;
  /** Rejects when the clause is broken. `animals` is how many to use where many are wanted. */
  readonly run: (subject: Tested, context: { readonly animals: number }) => Promise<void>;
}

/** What a subject may lack on purpose. */
export type OptionalPart<Tested> = NonNullable<ContractCase<Tested>['needs']>[number];

/** What cases do, by their clauses. */
export type Clauses<Run> = Readonly<Record<string, Run>>;

/** One clause for each of several values. */
export const each = <Value, Run>(
  values: Readonly<Record<string, Value>>,
  clause: (key: string, value: Value) => readonly [name: string, run: Run],
): Clauses<Run> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => clause(key, value)));

/** The cases of these clauses, each with the same needs. */
export const casesOf = <Run, Tested = unknown>(
  clauses: Clauses<Run>,
  ...needs: readonly OptionalPart<Tested>[]
) => Object.entries(clauses).map(([name, run]) => ({ name, run, needs }));

/** What a case runs on: an adapter, and the means to remove it again. */
export interface Subject {
  /** Closes whatever is still open and removes what was stored. */
  readonly dispose: () => Promise<void>;
}

/** Which of these members an object lacks, by their paths, such as `pets.add`. */
export function missingIn(subject: object, ...paths: readonly string[]): string | undefined {
  const missing = paths.filter((path) => valueAt(subject, path) === undefined);
  return missing.length > 0 ? `the subject has no ${missing.join(', no ')}` : undefined;
}

const valueAt = (subject: object, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, name) => Reflect.get(Object(value) as object, name), subject);

/** Makes a new subject, set up as given. Its store is empty. */
export type Open<Tested extends Subject, Given extends string = never> = (
  given: Given,
) => Promise<Tested>;

/** The result of a case. */
export interface CaseResult {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** What a failed case failed with. */
  readonly error?: unknown;
  /** Why a case was skipped. */
  readonly reason?: string;
  /** Duration, including opening and disposing. */
  readonly milliseconds: number;
}
