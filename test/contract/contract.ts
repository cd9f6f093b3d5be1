/** The promises of one port as data, for any test runner: written once, run on every adapter. */
export interface Contract<S extends Subject> {
  /** The name of the port. */
  readonly port: string;
  readonly cases: readonly ContractCase<S>[];
}

/** One promise. */
export interface ContractCase<S> {
  /** The promise in plain words: what is not true of an adapter that fails. Unique in its contract. */
  readonly name: string;
  /** Why this subject, by what it declares, does not owe the promise; `undefined` when it does. */
  readonly unless?: (subject: S) => string | undefined;
  /** Rejects when the promise is broken. May leave the subject in any state. */
  readonly run: (subject: S) => Promise<void>;
}

/** What a case runs on: an adapter in a state of its own. Every case is given a fresh one. */
export interface Subject {
  /** Closes whatever is still open and removes what was stored. */
  readonly dispose: () => Promise<void>;
}

/** What became of a case. */
export type CaseResult = { readonly name: string } & (
  | { readonly outcome: 'passed' }
  | { readonly outcome: 'failed'; readonly error: unknown }
  | { readonly outcome: 'skipped'; readonly reason: string }
);

/** Runs every case, one after the other, and never rejects: a fault in opening or disposing fails the case. */
export async function runContract<S extends Subject>(
  { cases }: Contract<S>,
  open: () => Promise<S>,
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  for (const contractCase of cases) results.push(await runCase(contractCase, open));
  return results;
}

/** Runs one case on a fresh subject. */
export async function runCase<S extends Subject>(
  { name, unless, run }: ContractCase<S>,
  open: () => Promise<S>,
): Promise<CaseResult> {
  try {
    const subject = await open();
    try {
      const reason = unless?.(subject);
      if (reason !== undefined) return { name, outcome: 'skipped', reason };
      await run(subject);
    } finally {
      await subject.dispose();
    }
    return { name, outcome: 'passed' };
  } catch (error) {
    return { name, outcome: 'failed', error };
  }
}
