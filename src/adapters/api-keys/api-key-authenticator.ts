import { timingSafeEqual } from 'node:crypto';
import type { Call } from '../../application/animal-store.js';
import type { ApiKeyRepository } from '../../application/ports/api-key-repository.js';
import {
  SCOPES,
  isScope,
  type Authentication,
  type Authenticator,
} from '../../application/ports/authenticator.js';
import { systemClock, type Clock } from '../../application/ports/clock.js';
import { ApiKeyCache } from './api-key-cache.js';
import { digestApiKey, readApiKey } from './api-key-format.js';
import { apiKeyState } from './api-key-state.js';
import { StaticApiKeys } from './static-api-keys.js';

/** Which keys are good. Without any, every credential is refused. */
export interface ApiKeyAuthenticatorOptions {
  /** Keys from the settings: each a bearer token by RFC 6750, with every scope, valid while the process runs. */
  readonly staticKeys?: readonly string[] | undefined;
  /** Where managed keys are kept; none are known when left out. Whoever opened it closes it. */
  readonly apiKeys?: ApiKeyRepository | undefined;
  /** Judges expiry and revocation, at every call. The machine's clock when left out. */
  readonly clock?: Clock | undefined;
  /** Milliseconds of a clock that is never set back; bounds the age of what is remembered. */
  readonly monotonicNow?: (() => number) | undefined;
}

/**
 * Judges API keys: a static key first, else a managed key by its format, its checksum, a look-up by its id
 * and its digest. A change to a managed key counts at the latest 500 ms after the store acknowledged it.
 * That a key is expired or revoked is told only to who has the whole key; to all others it is unknown.
 */
export class ApiKeyAuthenticator implements Authenticator {
  readonly #staticKeys: StaticApiKeys;
  readonly #managedKeys: ApiKeyCache | undefined;
  readonly #clock: Clock;

  /** @throws {InvalidParameterError} naming by its position every static key that is no bearer token. */
  constructor({
    staticKeys = [],
    apiKeys,
    clock = systemClock,
    monotonicNow = () => performance.now(),
  }: ApiKeyAuthenticatorOptions) {
    this.#staticKeys = new StaticApiKeys(staticKeys);
    this.#managedKeys = apiKeys && new ApiKeyCache(apiKeys, monotonicNow);
    this.#clock = clock;
  }

  async authenticate(credential: string, call: Call = {}): Promise<Authentication> {
    call.signal?.throwIfAborted();
    const digest = digestApiKey(credential);
    const staticId = this.#staticKeys.findId(digest);
    if (staticId !== undefined) return accepted(staticId, SCOPES);

    const managed = this.#managedKeys && readApiKey(credential);
    if (managed === undefined) return refused('unknown');
    const key = await this.#managedKeys?.find(managed.id, call);
    // Compared with something in any case: the response time must not tell which ids exist.
    const matches = isDigest(digest, key?.hash ?? NO_HASH);
    if (key === undefined || !matches) return refused('unknown');
    const state = apiKeyState(key, this.#clock.now());
    return state === 'active' ? accepted(key.id, key.scopes) : refused(state);
  }
}

const NO_HASH = '0'.repeat(64);

function isDigest(digest: Buffer, hash: string): boolean {
  const kept = Buffer.from(hash, 'hex');
  return kept.length === digest.length && timingSafeEqual(kept, digest);
}

/** Made anew for every answer: a set cannot be frozen, and must not change what the next caller may do. */
const accepted = (keyId: string, scopes: readonly string[]): Authentication => ({
  ok: true,
  principal: { keyId, scopes: new Set(scopes.filter(isScope)) },
});

const refused = (reason: 'unknown' | 'expired' | 'revoked'): Authentication => ({ ok: false, reason });
