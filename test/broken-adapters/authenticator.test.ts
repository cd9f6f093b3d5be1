import { createHash } from 'node:crypto';
import { readApiKeyId } from '../../src/adapters/api-keys/api-key.js';
import type { Authenticator, Principal } from '../../src/application/ports/authenticator.js';
import { UnavailableError } from '../../src/domain/errors.js';
import { authenticatorSubject } from '../adapters/api-keys/fixtures.js';
import {
  authenticatorContract,
  type AuthenticatorSubject,
} from '../contract/authenticator-contract.js';
import {
  failsBroken,
  faultsOf,
  withFault,
  type BrokenAdapters,
  type Fault,
} from './broken-adapters.js';

const { asks, returns, rejects, deaf, remembers } = faultsOf<Authenticator>();

/** The valid credentials of the newest subject. */
let accepted: AuthenticatorSubject['accepted'] = [];

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const judgesOther = (change: (credential: string) => string): Fault<Authenticator> =>
  asks({ authenticate: (credential) => [change(credential)] });

/** Accepts a text that belongs to a valid credential by this rule. */
const accepts = (rule: (valid: string, sent: string) => boolean): Fault<Authenticator> =>
  judgesOther(
    (sent) => accepted.find(({ credential }) => rule(credential, sent))?.credential ?? sent,
  );

const returnsOther = (
  change: (principal: Principal, credential: string) => Principal,
): Fault<Authenticator> =>
  returns({
    authenticate: (result, credential) =>
      result.ok ? { ok: true, principal: change(result.principal, credential) } : result,
  });

const NOBODY: Principal = { keyId: 'nobody', scopes: new Set() };

/** The weakest of checksums. */
const sum = (text: string): number =>
  Array.from(text).reduce((total, character) => total + (character.codePointAt(0) ?? 0), 0) % 64;

const broken: BrokenAdapters<Fault<Authenticator>> = {
  'accepts a valid credential with its key id and scopes, every time': returnsOther(
    (principal) => ({
      ...principal,
      scopes: new Set(['pets:read', 'pets:write']),
    }),
  ),
  'refuses an invalid credential with its reason, every time': returns({
    authenticate: (result) => (result.ok ? result : { ...result, reason: 'unknown' }),
  }),
  'refuses any odd text, however long': judgesOther((sent) =>
    decodeURIComponent(encodeURIComponent(sent)),
  ),
  'refuses a valid credential in disguise': [
    judgesOther((sent) => sent.trim()),
    accepts((valid, sent) => valid.toLowerCase() === sent.toLowerCase()),
  ],
  'refuses every truncation of a valid credential, from either end': accepts(
    (valid, sent) => sent.length > 9 && valid.startsWith(sent),
  ),
  'refuses a valid credential with any one character changed, removed, doubled or inserted':
    accepts((valid, sent) => sum(valid) === sum(sent)),
  'refuses the id of a key, which is not secret': accepts((valid, sent) =>
    valid.includes(`_${sent}_`),
  ),
  'compares whole digests: refuses one that begins as that of a valid credential': accepts(
    (valid, sent) => sha256(valid).slice(0, 8) === sha256(sent).slice(0, 8),
  ),
  // Trusts the checksum of a key.
  'compares whole digests: refuses one that differs from the stored hash in any one digit': returns(
    {
      authenticate: (result, credential) =>
        readApiKeyId(credential) === undefined ? result : { ok: true, principal: NOBODY },
    },
  ),
  'puts no credential into a result': returnsOther((principal, credential) => ({
    ...principal,
    keyId: credential,
  })),
  'returns scopes that can be changed without changing a later result': remembers(
    'authenticate',
    () => true,
  ),
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
  'rejects with the reason of an aborted signal, even if it knows the result': deaf('authenticate'),
  'rejects with service_unavailable without its store, and puts no credential into the error': [
    rejects({ authenticate: () => ({ ok: false, reason: 'unknown' }) }),
    // Hides the credential in the cause of an error.
    rejects({
      authenticate(_, credential) {
        throw new UnavailableError('reading a key', {
          cause: new Error(`no row for ${credential}`),
        });
      },
    }),
  ],
};

const open = (fault?: Fault<Authenticator>) => async (): Promise<AuthenticatorSubject> => {
  const subject = await authenticatorSubject();
  ({ accepted } = subject);
  return { ...subject, authenticator: withFault(subject.authenticator, fault) };
};

failsBroken(authenticatorContract, open, broken);
