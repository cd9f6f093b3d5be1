import type { ApiKeyRecord } from '../../application/ports/api-key-repository.js';

export type ApiKeyState = 'active' | 'expired' | 'revoked';

/**
 * What a key is worth at the instant `now`: valid strictly before `revokedAt` and `expiresAt`, no longer at
 * them. Revoked says more than expired, so it goes first.
 */
export function apiKeyState(key: Pick<ApiKeyRecord, 'revokedAt' | 'expiresAt'>, now: Date): ApiKeyState {
  if (!isBefore(now, key.revokedAt)) return 'revoked';
  return isBefore(now, key.expiresAt) ? 'active' : 'expired';
}

/** Asked as "is it still before", so that a time that is no time (an invalid date) ends a key and never extends it. */
const isBefore = (now: Date, end: Date | undefined): boolean => end === undefined || now < end;
