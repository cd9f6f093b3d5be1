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
  /**
   * Returns what the subject lacks to be one of this contract, or `undefined`. The first case fails with it, and the
   * others are skipped.
   */
  readonly lacks?: (subject: S) => string | undefined;
  /** Returns the subject as cases use it, where `dispose` must also close what they opened. Default: as it is. */
  readonly adopt?: (subject: S) => S;
}

/** One promise. */
export interface ContractCase<S, Given extends string = never, Id extends string = string> {
  /** The promise in plain words: an adapter that fails the case breaks it. Unique in its contract: the case's id. */
  readonly name: Id;
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
export type Promises<Run, Id extends string = string> = Readonly<Record<Id, Run>>;

type NameIn<Group> = Group extends unknown ? keyof Group & string : never;

/** Joins promises whose cases take the same arguments. The compiler knows each by its name. */
export const promisesOf =
  <Run>() =>
  <Groups extends readonly Promises<Run>[]>(
    ...groups: Groups
  ): Promises<Run, NameIn<Groups[number]>> =>
    Object.assign({}, ...groups);

/** One promise for each of several values. */
export function each<Key extends string, Value, Run, Id extends string>(
  values: Readonly<Record<Key, Value>>,
  promise: (key: Key, value: Value) => readonly [name: Id, run: Run],
): Promises<Run, Id> {
  const made = Object.entries<Value>(values).map(([key, value]) => promise(key as Key, value));
  const promises = Object.fromEntries(made) as Promises<Run, Id>;
  assert.equal(Object.keys(promises).length, made.length, 'two promises have the same name');
  return promises;
}

/** The cases of these promises. `unless` is that of each. */
export const casesOf = <Run, Id extends string, S = unknown>(
  promises: Promises<Run, Id>,
  unless?: (subject: S) => string | undefined,
) => Object.entries<Run>(promises).map(([name, run]) => ({ name: name as Id, run, unless }));

/** The names of cases. No text if the compiler does not know each, so that the type cannot be used as names. */
export type IdOf<Cases extends readonly { readonly name: string }[]> =
  string extends Cases[number]['name']
    ? { readonly error: 'a name is not literal' }
    : Cases[number]['name'];

/** What a case runs on: an adapter, and the means to remove it again. */
export interface Subject {
  /** Closes whatever is still open and removes what was stored. */
  readonly dispose: () => Promise<void>;
}

/** Which of these members an object lacks, by their paths, such as `pets.add`. */
export function missingIn(subject: object, ...paths: readonly string[]): string | undefined {
  const missing = paths.filter((path) => {
    const names = path.split('.');
    return names.reduce((part: unknown, name) => Object(part)[name], subject) === undefined;
  });
  return missing.length > 0 ? `the subject has no ${missing.join(', no ')}` : undefined;
}

/** The paths of the operations of a port. */
export const pathsOf = <Port>(
  port: string,
  operations: Readonly<Record<keyof Port & string, true>>,
): readonly string[] => Object.keys(operations).map((name) => `${port}.${name}`);

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
