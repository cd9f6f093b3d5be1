import { apiKeyState } from '../../application/api-key-state.js';
import { unlessAborted, type CallOptions } from '../../application/call-options.js';
import type { ApiKeyRecord, ApiKeyRepository } from '../../application/ports/api-key-repository.js';
import {
  SCOPES,
  isScope,
  type Authentication,
  type Authenticator,
  type Scope,
} from '../../application/ports/authenticator.js';
import { systemClock, type Clock } from '../../application/ports/clock.js';
import { requireNoFaults } from '../../domain/errors.js';
import { apiKeyIdIn, hashApiKey, staticKeyFault, staticKeyId } from './api-key.js';

/** Which keys are accepted. Without any, every credential is refused. */
export interface ApiKeyAuthenticatorOptions {
  /** Keys from the settings. Each is a bearer token (RFC 6750) with every scope, valid while the process runs. */
  readonly staticKeys?: readonly string[] | undefined;
  /** Where managed keys are stored. Default: there are no managed keys. */
  readonly apiKeys?: Pick<ApiKeyRepository, 'findById'> | undefined;
  /** Decides whether a key has expired. Default: the machine's clock. */
  readonly clock?: Clock | undefined;
}

/**
 * Accepts static keys, and managed keys whose checksum is right and whose hash is stored under their id. A change to a
 * managed key takes effect at most 500 ms after the store acknowledged it.
 */
export class ApiKeyAuthenticator implements Authenticator {
  /** Ids of static keys by hash. */
  readonly #staticIds: ReadonlyMap<string, string>;
  readonly #findById: ApiKeyRepository['findById'];
  readonly #clock: Clock;

  /** @throws {InvalidParameterError} naming, by position, every static key that is not a bearer token. */
  constructor({ staticKeys = [], apiKeys, clock = systemClock }: ApiKeyAuthenticatorOptions) {
    requireNoFaults(
      Object.fromEntries(
        staticKeys.map((key, index) => [`static key ${index + 1}`, staticKeyFault(key)]),
      ),
    );
    this.#staticIds = new Map(staticKeys.map((key) => [hashApiKey(key), staticKeyId(key)]));
    this.#findById = apiKeys ? cached(apiKeys) : async () => undefined;
    this.#clock = clock;
  }

  async authenticate(credential: string, { signal }: CallOptions = {}): Promise<Authentication> {
    signal?.throwIfAborted();
    const hash = hashApiKey(credential);
    // Comparing hashes reveals nothing of a key by its timing.
    const staticId = this.#staticIds.get(hash);
    if (staticId !== undefined) return accepted(staticId, SCOPES);

    const keyId = apiKeyIdIn(credential);
    if (keyId === undefined) return UNKNOWN;
    const found = await unlessAborted(this.#findById(keyId), signal);
    if (found?.hash !== hash) return UNKNOWN;
    const state = apiKeyState(found, this.#clock.now().getTime());
    if (state === 'active') return accepted(keyId, found.scopes.filter(isScope));
    if (state === 'revoked') return { ok: false, reason: 'revoked', keyId };
    // A damaged time (NaN) would make an invalid Date, which cannot be printed.
    return { ok: false, reason: 'expired', keyId, at: new Date(found.expiresAt || 0) };
  }
}

const UNKNOWN: Authentication = { ok: false, reason: 'unknown' };

/** Makes a new Set each time: a caller could change a shared one. */
const accepted = (keyId: string, scopes: readonly Scope[]): Authentication => ({
  ok: true,
  principal: { keyId, scopes: new Set(scopes) },
});

/** How long a look-up is reused, in milliseconds. Counted from its start: its result may be as old as that. */
const CACHE_LIFETIME = 500;

/** A full cache is emptied: its entries expire within half a second anyway. */
const CACHE_SIZE = 1000;

/** Calls with the same id share a look-up for `CACHE_LIFETIME`. A failed one is not kept. */
function cached(apiKeys: Pick<ApiKeyRepository, 'findById'>): ApiKeyRepository['findById'] {
  const lookUps = new Map<string, { begun: number; result: Promise<ApiKeyRecord | undefined> }>();
  return (id) => {
    const earlier = lookUps.get(id);
    const begun = performance.now();
    if (earlier && begun - earlier.begun < CACHE_LIFETIME) return earlier.result;
    const result = apiKeys.findById(id);
    if (lookUps.size >= CACHE_SIZE) lookUps.clear();
    lookUps.set(id, { begun, result });
    result.catch(() => lookUps.delete(id));
    return result;
  };
}
