import type { ApiKeyRecord } from './ports/api-key-repository.js';

/** Only an `active` key is accepted. */
export type ApiKeyState = 'active' | 'expired' | 'revoked';

/** The state of a key at the time `now`. A key that is revoked and has expired is `revoked`. */
export function apiKeyState({ revokedAt, expiresAt }: ApiKeyRecord, now: number): ApiKeyState {
  if (revokedAt !== undefined) return 'revoked';
  // Not `now >= expiresAt`: an invalid time (NaN) must not keep a key active.
  return expiresAt === undefined || now < expiresAt ? 'active' : 'expired';
}
