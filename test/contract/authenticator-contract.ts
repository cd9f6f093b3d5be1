import type {
  Authentication,
  Authenticator,
  Scope,
} from '../../src/application/ports/authenticator.js';
import assert from 'node:assert/strict';
import {
  casesOf,
  each,
  missingIn,
  optionalPart,
  type Clauses,
  type Contract,
  type ContractCase,
  type OptionalPart,
  type Subject,
} from './contract.js';
import { rejectsWhenAborted, rejectsWithCode } from './rejection.js';
import { alterations, truncations, words } from './samples.js';

/** An authenticator, and what it must make of some credentials, which have at least 16 characters. */
export interface AuthenticatorSubject extends Subject {
  /** The authenticator itself. */
  readonly authenticator: Authenticator;
  /** Valid credentials of different keys: at least two. Add `DIGEST_TWINS.accepted` if you can choose credentials. */
  readonly accepted: readonly {
    readonly credential: string;
    readonly keyId: string;
    readonly scopes: readonly Scope[];
  }[];
  /** Invalid credentials that are well-formed: at least one. */
  readonly refused: readonly {
    readonly credential: string;
    readonly reason: 'unknown' | 'expired' | 'revoked';
  }[];
  /**
   * Issues a valid key, stores `alter(hash)` in place of its hash (hexadecimal), and resolves to the credential. Omit
   * it if the authenticator stores no hashes.
   */
  readonly issueWithHash?: (alter: (hash: string) => string) => Promise<string>;
  /** Makes the authenticator's store unavailable. Omit it if the authenticator needs none. */
  readonly loseStore?: () => Promise<void>;
}

/** Two credentials whose SHA-256 digests have the same first five bytes, so that no shorter comparison is enough. */
export const DIGEST_TWINS = {
  accepted: 'a-static-key-with-a-twin-f7nu',
  refused: 'a-static-key-with-a-twin-10mx3',
} as const;

function expectedResults({
  accepted,
  refused,
}: AuthenticatorSubject): ReadonlyMap<string, Authentication> {
  return new Map<string, Authentication>([
    ...accepted.map(
      ({ credential, keyId, scopes }) =>
        [credential, { ok: true, principal: { keyId, scopes: new Set(scopes) } }] as const,
    ),
    ...refused.map(({ credential, reason }) => [credential, { ok: false, reason }] as const),
  ]);
}

const ODD_TEXTS = [
  ['', ' ', '\0', '\n', '\r\n', '\ud800', '\udfff\ud83d', 'ключ', '🔑', "' OR 1=1 --"],
  words('Bearer * % {"$gt":""} null undefined __proto__ constructor toString'),
  ['x', '\0', '_', 'a_', '🔑'].map((text) => text.repeat(8192)),
].flat();

/** What surrounds or disguises a valid credential. */
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
  credential.replace(/[!-~]/gu, (character) =>
    String.fromCodePoint(character.charCodeAt(0) + 0xfee0),
  ),
  Array.from(credential).toReversed().join(''),
];

/** Texts made from each valid credential, none of which is valid. */
const INVALID_TEXTS: Readonly<
  Record<string, (credential: string, keyId: string) => readonly string[]>
> = {
  'any odd text, however long': () => ODD_TEXTS,
  'a valid credential in disguise': disguises,
  'every truncation of a valid credential, from either end': truncations,
  'a valid credential with any one character changed, removed, doubled or inserted': alterations,
  'the id of a key, which is not secret': (_, keyId) => [keyId],
};

/** Every text in a value: in its properties, the hidden ones of errors too, and in sets and maps, at any depth. */
function textsOf(value: unknown, seen = new Set<unknown>()): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  const inside: unknown[] = Object.getOwnPropertyNames(value).map((name) =>
    Reflect.get(value, name),
  );
  if (value instanceof Set || value instanceof Map) inside.push(...value);
  return inside.flatMap((part) => textsOf(part, seen));
}

const flipDigitAt =
  (index: number) =>
  (hash: string): string =>
    hash.slice(0, index) + (hash[index] === '0' ? '1' : '0') + hash.slice(index + 1);

type Run = ContractCase<AuthenticatorSubject>['run'];

const JUDGING: Clauses<Run> = {
  async 'accepts a valid credential with its key id and scopes, every time'({
    authenticator,
    accepted,
  }) {
    for (const { credential, keyId, scopes } of [...accepted, ...accepted]) {
      const expected = { ok: true, principal: { keyId, scopes: new Set(scopes) } };
      assert.deepEqual(await authenticator.authenticate(credential), expected);
    }
  },
  async 'refuses an invalid credential with its reason, every time'({ authenticator, refused }) {
    for (const { credential, reason } of [...refused, ...refused]) {
      assert.deepEqual(await authenticator.authenticate(credential), { ok: false, reason });
    }
  },
  ...each(INVALID_TEXTS, (what, textsFor) => [
    `refuses ${what}`,
    async ({ authenticator, accepted }: AuthenticatorSubject) => {
      const valid = new Set(accepted.map(({ credential }) => credential));
      const texts = accepted
        .flatMap(({ credential, keyId }) => textsFor(credential, keyId))
        .filter((text) => !valid.has(text));
      const results = await Promise.all(texts.map((text) => authenticator.authenticate(text)));
      for (const [index, result] of results.entries()) {
        const text = JSON.stringify(texts[index]).slice(0, 200);
        assert.ok(!result.ok, `${text} was accepted`);
        const isKnown = ['unknown', 'expired', 'revoked'].includes(result.reason);
        assert.ok(isKnown, `${text} was refused with the reason ${result.reason}`);
      }
    },
  ]),
  async 'puts no credential into a result'(subject) {
    for (const credential of expectedResults(subject).keys()) {
      const result = await subject.authenticator.authenticate(credential);
      const hasCredential = textsOf(result).some((text) => text.includes(credential));
      assert.ok(!hasCredential, 'the result has the credential in it');
    }
  },
  async 'returns scopes that can be changed without changing a later result'({
    authenticator,
    accepted,
  }) {
    for (const { credential, keyId, scopes } of accepted) {
      const first = await authenticator.authenticate(credential);
      assert.ok(first.ok, `${keyId}, a valid credential, was refused`);
      assert.ok(first.principal.scopes instanceof Set, 'the scopes are no Set');
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
  async 'does not mix up simultaneous calls'(subject) {
    const expected = expectedResults(subject);
    const credentials = Array.from({ length: 20 }, () => [...expected.keys(), ...ODD_TEXTS]).flat();
    const results = await Promise.all(
      credentials.map((credential) => subject.authenticator.authenticate(credential)),
    );
    for (const [index, credential] of credentials.entries()) {
      assert.deepEqual(
        results[index],
        expected.get(credential) ?? { ok: false, reason: 'unknown' },
      );
    }
  },
  async 'rejects with the reason of an aborted signal, even if it knows the result'(subject) {
    for (const credential of [...expectedResults(subject).keys(), '']) {
      await rejectsWhenAborted((call) => subject.authenticator.authenticate(credential, call));
      await subject.authenticator.authenticate(credential);
      await rejectsWhenAborted((call) => subject.authenticator.authenticate(credential, call));
    }
  },
};

const TWINS: Clauses<Run> = {
  async 'compares whole digests: refuses one that begins as that of a valid credential'({
    authenticator,
  }) {
    const result = await authenticator.authenticate(DIGEST_TWINS.refused);
    assert.ok(!result.ok, 'it was accepted');
  },
};

const STORED_HASHES: Clauses<Run> = {
  async 'compares whole digests: refuses one that differs from the stored hash in any one digit'(
    subject,
  ) {
    const resultWith = async (alter: (hash: string) => string): Promise<Authentication> => {
      const credential = await subject.issueWithHash?.(alter);
      return subject.authenticator.authenticate(credential ?? '');
    };
    const valid = await resultWith((hash) => hash);
    assert.ok(valid.ok, 'a new key was refused');
    for (const index of [0, 7, 8, 15, 16, 31, 32, 62, 63]) {
      const result = await resultWith(flipDigitAt(index));
      const expected = { ok: false, reason: 'unknown' };
      assert.deepEqual(result, expected, `digit ${index} of the hash differs`);
    }
  },
};

const LOST_STORE: Clauses<Run> = {
  async 'rejects with service_unavailable without its store, and puts no credential into the error'(
    subject,
  ) {
    await subject.loseStore?.();
    for (const { credential } of subject.accepted) {
      if (credential === DIGEST_TWINS.accepted) continue; // may be a static key, which needs no store
      const refused = subject.authenticator.authenticate(credential);
      const error = await rejectsWithCode(refused, 'service_unavailable');
      const hasCredential = textsOf(error).some((text) => text.includes(credential));
      assert.ok(!hasCredential, 'the error has the credential in it');
    }
  },
};

/** What only some subjects have. */
const PARTS = {
  twins: optionalPart('DIGEST_TWINS', ({ accepted }) =>
    accepted.some(({ credential }) => credential === DIGEST_TWINS.accepted),
  ),
  hashes: optionalPart('issueWithHash', ({ issueWithHash }) => issueWithHash !== undefined),
  store: optionalPart('loseStore', ({ loseStore }) => loseStore !== undefined),
} satisfies Readonly<Record<string, OptionalPart<AuthenticatorSubject>>>;

const cases = [
  ...casesOf(JUDGING),
  ...casesOf(TWINS, PARTS.twins),
  ...casesOf(STORED_HASHES, PARTS.hashes),
  ...casesOf(LOST_STORE, PARTS.store),
];

/** What a subject lacks to be one of this contract. */
function lacks(subject: AuthenticatorSubject): string | undefined {
  const missing = missingIn(subject, 'authenticator.authenticate', 'accepted', 'refused');
  if (missing !== undefined) return missing;
  const { accepted, refused } = subject;
  const short = [...accepted, ...refused].find(({ credential }) => credential.length < 16);
  if (short) return 'a credential of the subject has fewer than 16 characters';
  if (accepted.length < 2) return `\`accepted\` has ${accepted.length} valid credentials, not two`;
  return refused.length > 0 ? undefined : '`refused` has no invalid credential';
}

/** Every authenticator. */
export const authenticatorContract: Contract<AuthenticatorSubject> = {
  port: 'Authenticator',
  lacks,
  cases,
};
