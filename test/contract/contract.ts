/** The promises of one port as data, for any test runner: written once, run on every adapter. */
export interface Contract<S extends Subject, Given extends string = never> {
  /** The name of the port. */
  readonly port: string;
  /** In the order in which they are best read and run. */
  readonly cases: readonly ContractCase<S, Given>[];
  /**
   * Cases leave a subject fit for others: all that are given the same have one, from the first of them to the
   * end. Else every case has a subject of its own.
   */
  readonly sharesSubjects?: true;
}

/** One promise. */
export interface ContractCase<S, Given extends string = never> {
  /** The promise in plain words: what is not true of an adapter that fails. Unique in its contract. */
  readonly name: string;
  /** What it is about, to be read above the names of all that are about the same. */
  readonly topic?: string;
  /** How the subject has to be set up, where a contract knows more than one way; handed to `Open`. */
  readonly given?: Given;
  /** Only an adapter that declares this owes the promise. */
  readonly needs?: Capability<S>;
  /** Why this subject, by what it is, does not owe the promise; `undefined` when it does. */
  readonly unless?: (subject: S) => string | undefined;
  /** Rejects when the promise is broken. */
  readonly run: (subject: S, context: CaseContext) => Promise<void>;
}

/** What an adapter may be able to do beyond what all of them promise, and says by itself. */
export interface Capability<S> {
  /** As the rest of a sentence that begins with "declares itself". */
  readonly name: string;
  /** Whether the adapter that the subject holds declares it. */
  readonly isDeclared: (subject: S) => boolean;
  /** Whether the subject has what it takes to try one that does not declare it. */
  readonly canBeTried: (subject: S) => boolean;
}

export const DEFAULT_ANIMALS = 10_000;

/** What a case is given beside its subject. */
export interface CaseContext {
  /** How many animals to walk through where many are wanted. */
  readonly animals: number;
  /** Puts into the result what is to be known of how the promise was shown. */
  readonly note: (text: string) => void;
}

/** What a case runs on: an adapter, and with it whatever has to be set up and taken away again. */
export interface Subject {
  /** Closes whatever is still open and removes what was stored. */
  readonly dispose: () => Promise<void>;
}

/** Makes a subject in a state of its own, set up as it is given: empty, where it stores something. */
export type Open<S extends Subject, Given extends string = never> = (given: Given) => Promise<S>;

/** What became of a case. */
export type CaseResult = {
  readonly name: string;
  /** What it took, opening and disposing included. */
  readonly milliseconds: number;
  /** Of a promise that only some adapters owe: what these declare themselves, and whether this one does. */
  readonly capability?: { readonly name: string; readonly declared: boolean };
  /** What is to be known of how the promise was shown; nearly always nothing. */
  readonly notes: readonly string[];
} & (
  | { readonly outcome: 'passed' }
  | { readonly outcome: 'failed'; readonly error: unknown }
  | { readonly outcome: 'skipped'; readonly reason: string }
);

/** What an adapter can do and does not declare: every case of such a capability passed. It may be declared, then. */
export function undeclaredCapabilities(results: readonly CaseResult[]): readonly string[] {
  const kept = new Map<string, boolean>();
  for (const { outcome, capability } of results) {
    if (capability === undefined || capability.declared) continue;
    kept.set(capability.name, outcome === 'passed' && kept.get(capability.name) !== false);
  }
  return [...kept].flatMap(([name, all]) => (all ? [name] : []));
}
