import type { CallOptions } from '../../src/application/call-options.js';
import type { Authenticator, Scope } from '../../src/application/ports/authenticator.js';
import assert from 'node:assert/strict';
import { checkRejectsWhenAborted, checkRejectsWithCode } from './rejection.js';
import { times, words } from './samples.js';
import { casesOf, type SuiteOptions } from './suite.js';

/**
 * An authenticator, and what it must make of some credentials. They have at least 16 characters, so that no error holds
 * one by chance.
 */
export interface OpenedAuthenticator {
  readonly authenticator: Authenticator;
  /** Valid credentials of different keys: at least two. */
  readonly accepted: readonly {
    readonly credential: string;
    readonly keyId: string;
    readonly scopes: readonly Scope[];
  }[];
  /** Invalid credentials that are well-formed: at least one. */
  readonly refused: ReadonlyArray<
    { readonly credential: string } & (
      | { readonly reason: 'unknown' }
      | { readonly reason: 'expired'; readonly keyId: string; readonly at: Date }
      | { readonly reason: 'revoked'; readonly keyId: string }
    )
  >;
  /** Makes the authenticator's store unavailable. Only an authenticator that needs one has it. */
  readonly loseStore?: (() => Promise<void>) | undefined;
  readonly close: () => Promise<void>;
}

/** Each credential with the result that it must get. */
const expectations = ({
  accepted,
  refused,
}: OpenedAuthenticator): readonly { credential: string; expected: unknown }[] => [
  ...accepted.map(({ credential, keyId, scopes }) => ({
    credential,
    expected: { ok: true, principal: { keyId, scopes: new Set(scopes) } },
  })),
  ...refused.map(({ credential, ...result }) => ({
    credential,
    expected: { ok: false, ...result },
  })),
];

const ODD_TEXTS = [
  ['', ' ', '\0', '\n', '\ud800', 'ключ', '🔑', "' OR 1=1 --", 'x'.repeat(8192)],
  words('Bearer * % {"$gt":""} null undefined __proto__ constructor'),
].flat();

/** What may surround a credential by mistake. */
const EXTRAS = [' ', '\n', '\0', '=', '"', ',', '\u200b', '\ufeff', '\ud800'];

/** Texts that a careless comparison takes for the credential. */
const variantsOf = (credential: string): readonly string[] => [
  ...[...EXTRAS, credential].flatMap((extra) => [credential + extra, extra + credential]),
  `Bearer ${credential}`,
  credential.toUpperCase(),
  credential.toLowerCase(),
  ...Array.from(credential, (character, index) => {
    const before = credential.slice(0, index);
    const after = credential.slice(index + 1);
    return [before, after, before + (character === 'b' ? 'c' : 'b') + after];
  }).flat(),
];

/** Checks the texts of an error, and of its causes. */
function checkHides(error: unknown, credential: string): void {
  const { message, stack, cause } = Object(error) as Partial<Error>;
  assert.ok(!`${message} ${stack}`.includes(credential), 'an error has the credential in it');
  if (cause !== undefined) checkHides(cause, credential);
}

/** The clauses of `Authenticator`. */
export function authenticatorTests(suite: SuiteOptions<OpenedAuthenticator>): void {
  const cases = casesOf(suite);
  const test = cases('authenticator', 'accepted', 'refused');
  const testWithStore = cases('authenticator', 'accepted', 'loseStore');

  suite.describe('Authenticator', () => {
    test('gives every credential its result, every time', async (subject) => {
      const { authenticator, accepted, refused } = subject;
      assert.ok(accepted.length > 1 && refused.length > 0, '`accepted` or `refused` has too few');
      for (const { credential, expected } of [...expectations(subject), ...expectations(subject)]) {
        const result = await authenticator.authenticate(credential);
        assert.deepEqual(result, expected);
        // The caller owns it: later results must not change.
        if (result.ok) Reflect.set(result.principal, 'scopes', undefined);
      }
    });

    test('refuses credentials that are nearly valid, ids of keys, and any other text', async ({
      authenticator,
      accepted,
    }) => {
      const texts = accepted.flatMap(({ credential, keyId }) => [...variantsOf(credential), keyId]);
      const valid = new Set(accepted.map(({ credential }) => credential));
      for (const text of [...texts, ...ODD_TEXTS].filter((each) => !valid.has(each))) {
        const { ok } = await authenticator.authenticate(text);
        assert.ok(!ok, `${JSON.stringify(text).slice(0, 200)} was accepted`);
      }
    });

    test('does not mix up simultaneous calls', async (subject) => {
      const calls = times(20, () => expectations(subject)).flat();
      const results = calls.map(({ credential }) => subject.authenticator.authenticate(credential));
      const expected = calls.map((call) => call.expected);
      assert.deepEqual(await Promise.all(results), expected);
    });

    test('rejects with the reason of an aborted signal, even if it knows the result', async (subject) => {
      const { authenticator } = subject;
      for (const { credential } of [{ credential: '' }, ...expectations(subject)]) {
        const aborted = (options: CallOptions) => [authenticator.authenticate(credential, options)];
        await checkRejectsWhenAborted(aborted);
        await authenticator.authenticate(credential);
        await checkRejectsWhenAborted(aborted);
      }
    });

    testWithStore(
      'rejects with service_unavailable without its store, and hides the credential',
      async ({ authenticator, accepted, loseStore }) => {
        await loseStore?.();
        for (const { credential } of accepted) {
          const refused = authenticator.authenticate(credential);
          checkHides(await checkRejectsWithCode(refused, 'service_unavailable'), credential);
        }
      },
    );
  });
}
