import assert from 'node:assert/strict';

/** The promises of one port as data, for any test runner: written once, run on every adapter. */
export interface Contract<S extends Subject, Given extends string = never> {
  /** The name of the port. */
  readonly port: string;
  /** In the best order to read and run them. */
  readonly cases: readonly ContractCase<S, Given>[];
  /**
   * Cases leave their subject usable for others, so all cases with the same `given` share one. Default: every case
   * has its own.
   */
  readonly sharesSubjects?: true;
}

/** One promise. */
export interface ContractCase<S, Given extends string = never> {
  /** The promise in plain words: an adapter that fails the case breaks it. Unique in its contract. */
  readonly name: string;
  /** The heading above all cases about the same subject. */
  readonly topic?: string;
  /** Passed to `Open`: how to set the subject up, where a contract knows several ways. */
  readonly given?: Given;
  /** Returns why the case does not apply to this subject, or `undefined` if it does. */
  readonly unless?: ((subject: S) => string | undefined) | undefined;
  /** Rejects when the promise is broken. `animals` is how many to use where many are wanted. */
  readonly run: (subject: S, context: { readonly animals: number }) => Promise<void>;
}

/** What cases do, by the promises that name them. */
export type Promises<Run> = Readonly<Record<string, Run>>;

/** One promise for each of several values. */
export function each<Value, Run>(
  values: readonly Value[],
  promise: (value: Value) => readonly [name: string, run: Run],
): Promises<Run> {
  const promises = Object.fromEntries(values.map(promise));
  assert.equal(Object.keys(promises).length, values.length, 'two promises have the same name');
  return promises;
}

/** The cases of these promises. `unless` is that of each. */
export const casesOf = <Run, S = unknown>(
  promises: Promises<Run>,
  unless?: (subject: S) => string | undefined,
) => Object.entries(promises).map(([name, run]) => ({ name, run, unless }));

/** What a case runs on: an adapter, and the means to remove it again. */
export interface Subject {
  /** Closes whatever is still open and removes what was stored. */
  readonly dispose: () => Promise<void>;
}

/** Makes a new subject, set up as given. Its store is empty. */
export type Open<S extends Subject, Given extends string = never> = (given: Given) => Promise<S>;

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
