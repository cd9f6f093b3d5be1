import assert from 'node:assert/strict';

/** The functions of a test runner. Those of mocha, node:test, Vitest and Jest serve, imported or global. */
export interface TestRunner {
  /** Declares a group of tests: `body` declares them, synchronously. */
  readonly describe: (title: string, body: () => void) => unknown;
  /** Declares a test, which fails when its body rejects. `skip` declares one that does not run. */
  readonly it: ((title: string, body: () => Promise<void>) => unknown) & {
    readonly skip: (title: string, body: () => Promise<void>) => unknown;
  };
}

/** What every suite gets: the functions of a test runner, and how to open what it tests. */
export interface SuiteOptions<Opened> extends TestRunner {
  /** Opens a new, empty one. Each case calls it and closes it, even if the case fails. */
  readonly open: () => Promise<Opened>;
  /**
   * The members that `open` leaves out on purpose, such as `reopen`. Cases that need one are skipped. Default: none, so
   * that a case fails when what it needs is missing.
   */
  readonly without?: readonly string[] | undefined;
}

/** Declares a case. */
type DeclareCase<Subject> = (title: string, run: (subject: Subject) => Promise<void>) => void;

/** Declares cases that need these members. Cases whose member is in `without` are skipped. */
export type Cases<Subject> = (
  ...needs: readonly (keyof Subject & string)[]
) => DeclareCase<Subject>;

/** The cases of a suite. Each opens its own subject and closes it. */
export const casesOf =
  <Subject extends { readonly close: () => Promise<void> }>({
    it,
    open,
    without = [],
  }: Omit<SuiteOptions<Subject>, 'describe'>): Cases<Subject> =>
  (...needs) =>
  (title, run) => {
    const missing = needs.find((need) => without.includes(need));
    const body = async (): Promise<void> => {
      const subject = await open();
      try {
        for (const need of needs) requireMember(subject[need], need);
        await run(subject);
      } catch (error) {
        await subject.close().catch(() => {}); // the first error matters more
        throw error;
      }
      await subject.close();
    };
    if (missing === undefined) it(title, body);
    else it.skip(`${title} (without ${missing})`, body);
  };

/** Fails if `open` did not give this member. */
export function requireMember<Member>(
  member: Member,
  name: string,
): asserts member is NonNullable<Member> {
  const hint = `give it, or name it in \`without\` if it is missing on purpose`;
  assert.ok(member !== undefined, `\`open\` gave no ${name}: ${hint}`);
}
