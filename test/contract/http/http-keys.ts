import { ManagedApiKeys } from '../../../src/adapters/api-keys/managed-api-keys.js';
import type { ApiKeyRepository } from '../../../src/application/ports/api-key-repository.js';
import type { Scope } from '../../../src/application/ports/authenticator.js';
import type { HttpKeys } from './request-row.js';

const HOUR = 60 * 60 * 1000;

/** Keys for the settings of a service; they hold every scope. */
export const STATIC_KEYS = { key: 'static-key-0123456789', secondKey: 'a+b/c~d.e_f-0123456789==' };

/** The static keys, and managed ones that are issued here. */
export async function issueKeys(apiKeys: ApiKeyRepository): Promise<HttpKeys> {
  const managed = new ManagedApiKeys({ apiKeys });
  const issue = async (name: string, scopes?: readonly Scope[]): Promise<string> =>
    (await managed.issue({ name, scopes })).key;
  const anHourAgo = new ManagedApiKeys({ apiKeys, clock: { now: () => new Date(Date.now() - HOUR) } });
  const expired = await anHourAgo.issue({ name: 'expired', expiresAt: new Date(Date.now() - 1) });
  const revoked = await managed.issue({ name: 'revoked' });
  await managed.revoke(revoked.record.id);
  return {
    ...STATIC_KEYS,
    managedKey: await issue('everything'),
    readOnlyKey: await issue('reads', ['pets:read']),
    writeOnlyKey: await issue('writes', ['pets:write']),
    expiredKey: expired.key,
    revokedKey: revoked.key,
  };
}
