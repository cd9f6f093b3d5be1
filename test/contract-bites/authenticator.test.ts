import { createHash } from 'node:crypto';
import type { Call } from '../../src/application/animal-store.js';
import type { Authentication, Authenticator, Principal } from '../../src/application/ports/authenticator.js';
import { UnavailableError } from '../../src/domain/errors.js';
import {
  DIGEST_TWINS,
  authenticatorContract,
  type AuthenticatorSubject,
} from '../contract/authenticator-contract.js';
import { bites, faultsOf, withFault, type Bites, type Fault } from './bites.js';

const { asks, returns, rejects, deaf, remembers } = faultsOf<Authenticator>();

const accepted: AuthenticatorSubject['accepted'] = [
  { credential: 'reader_Qm4x-77TzPa0', keyId: 'reader', scopes: ['pets:read'] },
  { credential: 'writer_8KcN.e2vLw~1', keyId: 'writer', scopes: ['pets:read', 'pets:write'] },
  { credential: 'nobody_0000000000=', keyId: 'nobody', scopes: [] },
  { credential: DIGEST_TWINS.accepted, keyId: 'twin', scopes: ['pets:read'] },
];

const refused: AuthenticatorSubject['refused'] = [
  { credential: 'unknown_Qm4x-77TzPa', reason: 'unknown' },
  { credential: 'expired_Qm4x-77TzPa', reason: 'expired' },
  { credential: 'revoked_Qm4x-77TzPa', reason: 'revoked' },
];

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Judges by a table of hashes: the shortest authenticator that keeps the contract. */
class TableAuthenticator implements Authenticator {
  lost = false;
  /** How many digits of a hash are compared. */
  digits = 64;
  readonly #issued = new Map<string, string>();

  async authenticate(credential: string, { signal }: Call = {}): Promise<Authentication> {
    signal?.throwIfAborted();
    if (this.lost) throw new UnavailableError('reading a key');
    const hash = credential.isWellFormed() ? sha256(credential) : '';
    const isSame = (other: string): boolean => other.slice(0, this.digits) === hash.slice(0, this.digits);
    const known = accepted.find((sample) => isSame(sha256(sample.credential)));
    if (known) return { ok: true, principal: { keyId: known.keyId, scopes: new Set(known.scopes) } };
    if (isSame(this.#issued.get(credential.split('.')[0] ?? '') ?? 'none')) {
      return { ok: true, principal: { keyId: 'issued', scopes: new Set() } };
    }
    const bad = refused.find((sample) => sample.credential === credential);
    return { ok: false, reason: bad?.reason ?? 'unknown' };
  }

  issue(alter: (hash: string) => string): string {
    const id = `issued-${this.#issued.size}`;
    this.#issued.set(id, alter(sha256(`${id}.secret`)));
    return `${id}.secret`;
  }
}

const judgesOther = (change: (credential: string) => string): Fault<Authenticator> =>
  asks({ authenticate: (credential, call) => [change(credential), call] });

/** Accepts a text that belongs to a valid credential by this rule. */
const accepts = (rule: (valid: string, sent: string) => boolean): Fault<Authenticator> =>
  judgesOther((sent) => accepted.find(({ credential }) => rule(credential, sent))?.credential ?? sent);

const returnsOther = (
  change: (principal: Principal, credential: string) => Principal,
): Fault<Authenticator> =>
  returns({
    authenticate: (result, credential) =>
      result.ok ? { ok: true, principal: change(result.principal, credential) } : result,
  });

/** The weakest of checksums. */
const sum = (text: string): number =>
  Array.from(text).reduce((total, character) => total + (character.codePointAt(0) ?? 0), 0) % 64;

const comparesDigits =
  (digits: number): Fault<Authenticator> =>
  (authenticator) => {
    Reflect.set(authenticator, 'digits', digits);
    return {};
  };

const broken: Bites<Fault<Authenticator>> = {
  'accepts a valid credential': returnsOther((principal) => ({
    ...principal,
    scopes: new Set(['pets:read', 'pets:write']),
  })),
  // Accepts a credential only once.
  'its key id and scopes, every time': (authenticator) => {
    const used = new Set<string>();
    return {
      async authenticate(credential, call) {
        if (used.has(credential)) return { ok: false, reason: 'unknown' };
        used.add(credential);
        return authenticator.authenticate(credential, call);
      },
    };
  },
  'refuses any odd text': judgesOther((sent) => decodeURIComponent(encodeURIComponent(sent))),
  'refuses a valid credential in disguise': judgesOther((sent) => sent.trim()),
  'a valid credential in disguise': accepts((valid, sent) => valid.toLowerCase() === sent.toLowerCase()),
  'refuses every truncation of a valid credential': accepts(
    (valid, sent) => sent.length > 9 && valid.startsWith(sent),
  ),
  'refuses a valid credential with any one character changed': accepts(
    (valid, sent) => sum(valid) === sum(sent),
  ),
  'refuses the id of a key': accepts((valid, sent) => valid.startsWith(`${sent}_`)),
  'refuses one that begins as that of a valid credential': comparesDigits(8),
  'refuses one that differs from the stored hash': comparesDigits(62),
  'puts no credential into a result': returnsOther((principal, credential) => ({
    ...principal,
    keyId: credential,
  })),
  'returns scopes that can be changed': remembers('authenticate', () => true),
  // Keeps the credential between two steps.
  'does not mix up simultaneous calls': (authenticator) => {
    let current = '';
    return {
      async authenticate(credential, call) {
        current = credential;
        await Promise.resolve();
        return authenticator.authenticate(current, call);
      },
    };
  },
  'rejects with the reason of an aborted signal': deaf('authenticate'),
  'rejects with service_unavailable without its store': rejects({
    authenticate: () => ({ ok: false, reason: 'unknown' }),
  }),
  // Hides the credential in the cause of an error.
  'puts no credential into the error': rejects({
    authenticate(_, credential) {
      throw new UnavailableError('reading a key', { cause: new Error(`no row for ${credential}`) });
    },
  }),
};

const open = (fault?: Fault<Authenticator>) => async (): Promise<AuthenticatorSubject> => {
  const table = new TableAuthenticator();
  return {
    authenticator: withFault<Authenticator>(table, fault),
    accepted,
    refused,
    issueWithHash: async (alter) => table.issue(alter),
    loseStore: async () => void (table.lost = true),
    dispose: async () => {},
  };
};

bites(authenticatorContract, open, broken);
