import { assert } from './assert.js';
import type { Authentication, Authenticator, Scope } from '../../src/application/ports/authenticator.js';
import type { Contract, ContractCase, Subject } from './contract.js';
import { rejectsWhenAborted, rejectsWithCode } from './rejection.js';
import { alterations, truncations } from './samples.js';

/** An authenticator and what it has to say of some credentials. Credentials have at least 16 characters. */
export interface AuthenticatorSubject extends Subject {
  /** The authenticator itself. */
  readonly authenticator: Authenticator;
  /** Good credentials of different keys: at least two. */
  readonly accepted: readonly {
    readonly credential: string;
    readonly keyId: string;
    readonly scopes: readonly Scope[];
  }[];
  /** Credentials that are no good, though well-formed. */
  readonly refused: readonly {
    readonly credential: string;
    readonly reason: 'unknown' | 'expired' | 'revoked';
  }[];
  /** Takes away what the authenticator asks, so that it cannot tell; left out when it asks nobody. */
  readonly loseStore?: () => Promise<void>;
}

/** What the subject says the answer to a credential is. */
function expectedAnswers({ accepted, refused }: AuthenticatorSubject): ReadonlyMap<string, Authentication> {
  return new Map<string, Authentication>([
    ...accepted.map(
      ({ credential, keyId, scopes }) =>
        [credential, { ok: true, principal: { keyId, scopes: new Set(scopes) } }] as const,
    ),
    ...refused.map(({ credential, reason }) => [credential, { ok: false, reason }] as const),
  ]);
}

async function refuses(subject: AuthenticatorSubject, credentials: readonly string[]): Promise<void> {
  const good = new Set(subject.accepted.map(({ credential }) => credential));
  const bad = credentials.filter((credential) => !good.has(credential));
  assert.ok(bad.length > 0);
  const answers = await Promise.all(bad.map((credential) => subject.authenticator.authenticate(credential)));
  for (const [index, answer] of answers.entries()) {
    assert.equal(answer.ok, false, `${JSON.stringify(bad[index]).slice(0, 200)} was accepted`);
    assert.ok(['unknown', 'expired', 'revoked'].includes(answer.reason));
  }
}

const ODD_TEXTS = [
  '',
  ' ',
  '\0',
  '\n',
  '\r\n',
  'Bearer',
  '*',
  '%',
  "' OR 1=1 --",
  '{"$gt":""}',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  'toString',
  '\ud800',
  '\udfff\ud83d',
  'ключ',
  '🔑',
  'x'.repeat(8192),
  '\0'.repeat(8192),
  '🔑'.repeat(4096),
  '_'.repeat(8192),
  'a_'.repeat(4096),
];

/** What surrounds or disguises a good credential without being one. */
const disguises = (credential: string): readonly string[] => [
  ...[' ', '\n', '\t', '\0', '=', '"', ',', '\u200b', '\ufeff', '\ud800'].flatMap((extra) => [
    credential + extra,
    extra + credential,
  ]),
  `Bearer ${credential}`,
  `${credential},${credential}`,
  credential + credential,
  credential.toUpperCase(),
  credential.toLowerCase(),
  credential.replace(/[!-~]/gu, (character) => String.fromCodePoint(character.charCodeAt(0) + 0xfee0)),
  Array.from(credential).toReversed().join(''),
];

const cases: readonly ContractCase<AuthenticatorSubject>[] = [
  {
    name: 'answers a good credential with its key id and its scopes, every time it is asked',
    async run({ authenticator, accepted }) {
      assert.ok(accepted.length >= 2, 'the subject has to bring two good credentials');
      for (const { credential, keyId, scopes } of [...accepted, ...accepted]) {
        const answer = await authenticator.authenticate(credential);
        assert.ok(answer.ok);
        assert.equal(answer.principal.keyId, keyId);
        assert.deepEqual([...answer.principal.scopes].sort(), [...scopes].sort());
        for (const scope of scopes) assert.equal(answer.principal.scopes.has(scope), true);
        assert.equal(answer.principal.scopes.size, scopes.length);
      }
    },
  },
  {
    name: 'answers a credential that is no good with the reason, every time it is asked',
    async run({ authenticator, refused }) {
      assert.ok(refused.length > 0, 'the subject has to bring a credential that is no good');
      for (const { credential, reason } of [...refused, ...refused]) {
        assert.deepEqual(await authenticator.authenticate(credential), { ok: false, reason });
      }
    },
  },
  {
    name: 'refuses any odd text, however long, and does not fail on it',
    run: (subject) => refuses(subject, ODD_TEXTS),
  },
  {
    name: 'refuses a good credential in disguise',
    run: (subject) =>
      refuses(
        subject,
        subject.accepted.flatMap(({ credential }) => disguises(credential)),
      ),
  },
  {
    name: 'refuses every truncation of a good credential, from either end',
    run: (subject) =>
      refuses(
        subject,
        subject.accepted.flatMap(({ credential }) => truncations(credential)),
      ),
  },
  {
    name: 'refuses a good credential with any one character changed, left out, doubled or put in',
    run: (subject) =>
      refuses(
        subject,
        subject.accepted.flatMap(({ credential }) => alterations(credential)),
      ),
  },
  {
    name: 'refuses the id of a key: it names the key and does not tell it',
    run: (subject) =>
      refuses(
        subject,
        subject.accepted.map(({ keyId }) => keyId),
      ),
  },
  {
    name: 'puts no credential into an answer',
    async run(subject) {
      for (const credential of expectedAnswers(subject).keys()) {
        const answer = await subject.authenticator.authenticate(credential);
        assert.ok(!textsOf(answer).some((text) => text.includes(credential)));
      }
    },
  },
  {
    name: 'gives scopes that can be changed without changing a later answer',
    async run({ authenticator, accepted }) {
      for (const { credential, keyId, scopes } of accepted) {
        const first = await authenticator.authenticate(credential);
        assert.ok(first.ok);
        assert.ok(first.principal.scopes instanceof Set);
        try {
          first.principal.scopes.clear();
        } catch {
          // A set that refuses to be changed is as good as a copy.
        }
        Reflect.set(first.principal, 'keyId', 'another');
        Reflect.set(first.principal, 'scopes', new Set());
        const expected = { ok: true, principal: { keyId, scopes: new Set(scopes) } };
        assert.deepEqual(await authenticator.authenticate(credential), expected);
      }
    },
  },
  {
    name: 'does not mix up simultaneous calls',
    async run(subject) {
      const expected = expectedAnswers(subject);
      const credentials = Array.from({ length: 20 }, () => [...expected.keys(), ...ODD_TEXTS]).flat();
      const answers = await Promise.all(
        credentials.map((credential) => subject.authenticator.authenticate(credential)),
      );
      for (const [index, credential] of credentials.entries()) {
        assert.deepEqual(answers[index], expected.get(credential) ?? { ok: false, reason: 'unknown' });
      }
    },
  },
  {
    name: 'rejects with the reason of a signal that is aborted already',
    async run(subject) {
      for (const credential of [...expectedAnswers(subject).keys(), '']) {
        await rejectsWhenAborted((call) => subject.authenticator.authenticate(credential, call));
      }
    },
  },
  {
    name: 'rejects with service_unavailable when it cannot tell, and puts no credential into the error',
    unless: ({ loseStore }) =>
      loseStore ? undefined : 'the subject declares no `loseStore`: it asks no store',
    async run(subject) {
      await subject.loseStore?.();
      for (const { credential } of subject.accepted) {
        const error = await rejectsWithCode(
          subject.authenticator.authenticate(credential),
          'service_unavailable',
        );
        assert.ok(!textsOf(error).some((text) => text.includes(credential)));
      }
    },
  },
];

/** Every text in a value: in its properties, the hidden ones of errors too, and in sets and maps, at any depth. */
export function textsOf(value: unknown, seen = new Set<unknown>()): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  const inside: unknown[] = Object.getOwnPropertyNames(value).map((name) => Reflect.get(value, name));
  if (value instanceof Set || value instanceof Map) inside.push(...value);
  return inside.flatMap((part) => textsOf(part, seen));
}

/** What everything that judges credentials promises. */
export const authenticatorContract: Contract<AuthenticatorSubject> = { port: 'Authenticator', cases };
