import { ApiKeyAuthenticator } from '../../../src/adapters/api-keys/api-key-authenticator.js';
import { generateApiKey } from '../../../src/adapters/api-keys/api-key-format.js';
import { ManagedApiKeys } from '../../../src/adapters/api-keys/managed-api-keys.js';
import { MemoryApiKeyRepository } from '../../../src/adapters/memory/memory-api-key-repository.js';
import { SCOPES } from '../../../src/application/ports/authenticator.js';
import { authenticatorContract, type AuthenticatorSubject } from '../../contract/authenticator-contract.js';
import { bindContract } from '../../contract/bind-contract.js';
import { SettableClock } from './settable-clock.js';

const STATIC_KEY = 'a-static-key-of-some-length';

describe('ApiKeyAuthenticator', () => {
  bindContract(authenticatorContract, async (): Promise<AuthenticatorSubject> => {
    const keys = new MemoryApiKeyRepository();
    const clock = new SettableClock();
    const managed = new ManagedApiKeys({ keys, clock });
    const writer = await managed.issue({ name: 'writer', scopes: ['pets:write'] });
    const all = await managed.issue({ name: 'all' });
    const revoked = await managed.issue({ name: 'revoked' });
    await managed.revoke(revoked.record.id);
    const expired = await managed.issue({ name: 'expired', expiresAt: clock.in(1) });
    clock.advance(1);
    return {
      authenticator: new ApiKeyAuthenticator({ staticKeys: [STATIC_KEY], keys, clock }),
      accepted: [writer, all].map(({ key, record }) => ({
        credential: key,
        keyId: record.id,
        scopes: record.scopes,
      })),
      refused: [
        { credential: generateApiKey('live').key, reason: 'unknown' },
        { credential: expired.key, reason: 'expired' },
        { credential: revoked.key, reason: 'revoked' },
      ],
      loseStore: () => keys.close(),
      dispose: () => keys.close(),
    };
  });
});

describe('ApiKeyAuthenticator with static keys only', () => {
  bindContract(authenticatorContract, async (): Promise<AuthenticatorSubject> => {
    const authenticator = new ApiKeyAuthenticator({ staticKeys: [STATIC_KEY, `${STATIC_KEY}-2`] });
    const accepted = [];
    for (const credential of [STATIC_KEY, `${STATIC_KEY}-2`]) {
      const authentication = await authenticator.authenticate(credential);
      if (authentication.ok)
        accepted.push({ credential, keyId: authentication.principal.keyId, scopes: SCOPES });
    }
    return {
      authenticator,
      accepted,
      refused: [{ credential: generateApiKey('live').key, reason: 'unknown' }],
      dispose: async () => {},
    };
  });
});
