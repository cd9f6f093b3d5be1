import type { ApiKeyRecord } from '../../application/ports/api-key-repository.js';

/** What a managed key is worth: only an `active` one is accepted; `revoked` goes before `expired`. */
export type ApiKeyState = 'active' | 'expired' | 'revoked';

/**
 * What a key is worth at the instant `now`: valid strictly before `expiresAt`, and only while it has no
 * `revokedAt`. A revocation counts from when it is seen, by no clock: that of the machine that revoked the
 * key may be ahead of this one's. Revoked says more than expired, so it goes first.
 */
export function apiKeyState(key: Pick<ApiKeyRecord, 'revokedAt' | 'expiresAt'>, now: Date): ApiKeyState {
  if (key.revokedAt !== undefined && !(now < key.revokedAt)) return 'revoked';
  // Asked as "is it still before", so that a time that is no time (an invalid date) ends a key and never extends it.
  return key.expiresAt === undefined || now < key.expiresAt ? 'active' : 'expired';
}
