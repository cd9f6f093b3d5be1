import {
  ApiKeyAuthenticator,
  ManagedApiKeys,
  generateApiKey,
} from '../../../src/adapters/api-keys/index.js';
import { openMemoryStore } from '../../../src/adapters/memory/index.js';
import { SCOPES } from '../../../src/index.js';
import type { OpenedAuthenticator } from '../../contract/index.js';
import { SettableClock } from '../../settable-clock.js';

/** An authenticator with managed keys in every state. */
export async function openAuthenticator(): Promise<OpenedAuthenticator> {
  const clock = new SettableClock();
  const { apiKeys, close } = openMemoryStore();
  const managed = new ManagedApiKeys({ apiKeys, generate: generateApiKey, clock });
  const writer = await managed.issue({ name: 'writer', scopes: ['pets:write'] });
  const all = await managed.issue({ name: 'all', scopes: SCOPES });
  const ended = await managed.issue({ name: 'revoked', scopes: SCOPES });
  await managed.revoke(ended.details.id);
  const at = clock.in(1);
  const late = await managed.issue({ name: 'expired', scopes: SCOPES, expiresAt: at });
  clock.advance(1);
  return {
    authenticator: new ApiKeyAuthenticator({ staticKeys: ['a-static-key'], apiKeys, clock }),
    accepted: [writer, all].map(({ key, details }) => ({
      credential: key,
      keyId: details.id,
      scopes: SCOPES.filter((scope) => details.scopes.includes(scope)),
    })),
    refused: [
      { credential: generateApiKey().key, reason: 'unknown' },
      { credential: late.key, reason: 'expired', keyId: late.details.id, at },
      { credential: ended.key, reason: 'revoked', keyId: ended.details.id },
    ],
    loseStore: close,
    close,
  };
}
