import type { Authentication, Authenticator, Principal } from '../../src/application/ports/authenticator.js';
import { UnavailableError } from '../../src/domain/errors.js';
import { authenticatorContract, type AuthenticatorSubject } from '../contract/authenticator-contract.js';
import { bites, type Bite } from './bites.js';

const accepted: AuthenticatorSubject['accepted'] = [
  { credential: 'reader_Qm4x-77TzPa0', keyId: 'reader', scopes: ['pets:read'] },
  { credential: 'writer_8KcN.e2vLw~1', keyId: 'writer', scopes: ['pets:read', 'pets:write'] },
  { credential: 'nobody_0000000000=', keyId: 'nobody', scopes: [] },
];

const refused: AuthenticatorSubject['refused'] = [
  { credential: 'unknown_Qm4x-77TzPa', reason: 'unknown' },
  { credential: 'expired_Qm4x-77TzPa', reason: 'expired' },
  { credential: 'revoked_Qm4x-77TzPa', reason: 'revoked' },
];

/** Judges by a table: the shortest authenticator that keeps the contract. */
class TableAuthenticator implements Authenticator {
  lost = false;

  async authenticate(credential: string, { signal }: { signal?: AbortSignal | undefined } = {}) {
    signal?.throwIfAborted();
    if (this.lost) throw new UnavailableError('reading a key');
    const good = accepted.find((sample) => sample.credential === credential);
    if (good) return { ok: true, principal: { keyId: good.keyId, scopes: new Set(good.scopes) } } as const;
    const bad = refused.find((sample) => sample.credential === credential);
    return { ok: false, reason: bad?.reason ?? 'unknown' } as const;
  }
}

/** Wraps the table: what it returns takes the place of its one operation. */
type Fault = (table: Authenticator) => Authenticator['authenticate'];

const subject =
  (fault: Fault = (table) => (credential, call) => table.authenticate(credential, call)) =>
  async (): Promise<AuthenticatorSubject> => {
    const table = new TableAuthenticator();
    return {
      authenticator: { authenticate: fault(table) },
      accepted,
      refused,
      async loseStore() {
        table.lost = true;
      },
      dispose: async () => {},
    };
  };

const broken = (that: string, caughtBy: string, fault: Fault): Bite<AuthenticatorSubject> => ({
  that,
  caughtBy,
  open: subject(fault),
});

/** Judges the credential that `change` makes of the one sent. */
const judgesOther =
  (change: (credential: string) => string): Fault =>
  (table) =>
  (credential, call) =>
    table.authenticate(change(credential), call);

/** Accepts what belongs to a good credential by `rule`. */
const accepts = (rule: (good: string, sent: string) => boolean): Fault =>
  judgesOther((sent) => accepted.find(({ credential }) => rule(credential, sent))?.credential ?? sent);

/** Changes the principal of a good answer. */
const answersOther =
  (change: (principal: Principal, credential: string) => Principal): Fault =>
  (table) =>
  async (credential, call) => {
    const answer = await table.authenticate(credential, call);
    return answer.ok ? { ok: true, principal: change(answer.principal, credential) } : answer;
  };

/** The weakest of checksums. */
function sum(text: string): number {
  return Array.from(text).reduce((total, character) => total + (character.codePointAt(0) ?? 0), 0) % 64;
}

const ANSWERS = 'answers a good credential with its key id and its scopes, every time it is asked';
const REASONS = 'answers a credential that is no good with the reason, every time it is asked';
const ODD = 'refuses any odd text, however long, and does not fail on it';
const DISGUISE = 'refuses a good credential in disguise';
const TRUNCATED = 'refuses every truncation of a good credential, from either end';
const ALTERED = 'refuses a good credential with any one character changed, left out, doubled or put in';

bites(authenticatorContract, subject(), [
  broken(
    'grants every scope',
    ANSWERS,
    answersOther((principal) => ({
      ...principal,
      scopes: new Set(['pets:read', 'pets:write']),
    })),
  ),
  broken(
    'takes one key for another',
    ANSWERS,
    judgesOther((sent) => sent.replace('reader_Qm4x-77TzPa0', 'writer_8KcN.e2vLw~1')),
  ),
  broken('accepts a credential only once', ANSWERS, (table) => {
    const used = new Set<string>();
    return async (credential, call) => {
      if (used.has(credential)) return { ok: false, reason: 'unknown' };
      used.add(credential);
      return table.authenticate(credential, call);
    };
  }),
  broken('does not tell why', REASONS, (table) => async (credential, call) => {
    const answer = await table.authenticate(credential, call);
    return answer.ok ? answer : { ok: false, reason: 'unknown' };
  }),
  broken('rejects instead of refusing', REASONS, (table) => async (credential, call) => {
    const answer = await table.authenticate(credential, call);
    if (!answer.ok) throw new Error('refused');
    return answer;
  }),
  broken(
    'fails on what is not well-formed',
    ODD,
    judgesOther((sent) => decodeURIComponent(encodeURIComponent(sent))),
  ),
  broken('fails on an empty text', ODD, (table) => (credential, call) => {
    if (credential === '') throw new RangeError('empty');
    return table.authenticate(credential, call);
  }),
  broken(
    'accepts everything that is long',
    ODD,
    judgesOther((sent) => (sent.length > 4096 ? 'reader_Qm4x-77TzPa0' : sent)),
  ),
  broken(
    'trims what is sent',
    DISGUISE,
    judgesOther((sent) => sent.trim()),
  ),
  broken(
    'takes the scheme along',
    DISGUISE,
    judgesOther((sent) => sent.replace(/^Bearer /, '')),
  ),
  broken(
    'reads to the first U+0000',
    DISGUISE,
    judgesOther((sent) => sent.split('\0')[0] ?? sent),
  ),
  broken(
    'folds case',
    DISGUISE,
    accepts((good, sent) => good.toLowerCase() === sent.toLowerCase()),
  ),
  broken(
    'drops padding',
    DISGUISE,
    accepts((good, sent) => good.replace(/=+$/, '') === sent.replace(/=+$/, '')),
  ),
  broken(
    'normalises what is sent',
    DISGUISE,
    judgesOther((sent) => sent.normalize('NFKC')),
  ),
  broken(
    'compares only as much as was sent',
    TRUNCATED,
    accepts((good, sent) => sent.length > 9 && good.startsWith(sent)),
  ),
  broken(
    'does not look at the last character',
    ALTERED,
    accepts((good, sent) => good.slice(0, -1) === sent.slice(0, -1)),
  ),
  broken(
    'takes two characters for one another',
    ALTERED,
    accepts((good, sent) => good.replaceAll('-', '_') === sent.replaceAll('-', '_')),
  ),
  broken(
    'compares by a weak checksum',
    ALTERED,
    accepts((good, sent) => sum(good) === sum(sent)),
  ),
  broken(
    'accepts the id of a key',
    'refuses the id of a key: it names the key and does not tell it',
    accepts((good, sent) => good.startsWith(`${sent}_`)),
  ),
  broken(
    'names a key by its credential',
    'puts no credential into an answer',
    answersOther((principal, credential) => ({ ...principal, keyId: credential })),
  ),
  broken(
    'hands out the scopes that it keeps',
    'gives scopes that can be changed without changing a later answer',
    (table) => {
      const kept = new Map<string, Authentication>();
      return async (credential, call) => {
        const answer = kept.get(credential) ?? (await table.authenticate(credential, call));
        kept.set(credential, answer);
        return answer;
      };
    },
  ),
  broken('keeps the credential between two steps', 'does not mix up simultaneous calls', (table) => {
    let current = '';
    return async (credential, call) => {
      current = credential;
      await Promise.resolve();
      return table.authenticate(current, call);
    };
  }),
  broken(
    'ignores an aborted signal',
    'rejects with the reason of a signal that is aborted already',
    (table) => (credential) => table.authenticate(credential),
  ),
  broken(
    'refuses when it cannot tell',
    'rejects with service_unavailable when it cannot tell, and puts no credential into the error',
    (table) => (credential, call) =>
      table.authenticate(credential, call).catch((error: unknown) => {
        if (error instanceof UnavailableError) return { ok: false, reason: 'unknown' };
        throw error;
      }),
  ),
  broken(
    'hides the credential in the cause of an error',
    'rejects with service_unavailable when it cannot tell, and puts no credential into the error',
    (table) => (credential, call) =>
      table.authenticate(credential, call).catch((error: unknown) => {
        if (!(error instanceof UnavailableError)) throw error;
        throw new UnavailableError('reading a key', { cause: new Error(`no answer for ${credential}`) });
      }),
  ),
]);
