import type { CallOptions } from '../../application/animal-store.js';
import { apiKeyState } from '../../application/manage-api-keys.js';
import type { ApiKeyRepository } from '../../application/ports/api-key-repository.js';
import {
  SCOPES,
  isScope,
  type Authentication,
  type Authenticator,
} from '../../application/ports/authenticator.js';
import { systemClock, timeOf, type Clock } from '../../application/ports/clock.js';
import { requireValid } from '../../domain/errors.js';
import { hashApiKey, readApiKeyId, staticKeyFault, staticKeyId } from './api-key.js';
import { cachedFindKey, type FindKey } from './api-key-cache.js';

/**
 * Authenticates API keys: static keys first, then managed keys by format, checksum, a look-up by id, and hash. A change
 * to a managed key takes effect at most 500 ms after the store acknowledged it.
 */
export class ApiKeyAuthenticator implements Authenticator {
  /** The ids of static keys, by the hash of the key. */
  readonly #staticKeys: ReadonlyMap<string, string>;
  readonly #findManaged: FindKey | undefined;
  readonly #clock: Clock;

  /**
   * Without any keys, every credential is refused.
   * @throws {InvalidParameterError} naming, by position, every static key that is not a bearer token.
   */
  constructor({
    staticKeys = [],
    apiKeys,
    clock = systemClock,
  }: {
    /** Keys from the settings. Each is a bearer token (RFC 6750) with every scope, valid while the process runs. */
    readonly staticKeys?: readonly string[] | undefined;
    /** Where managed keys are stored. It is never closed here. Default: there are no managed keys. */
    readonly apiKeys?: ApiKeyRepository | undefined;
    /** Decides expiry and revocation at every call. Default: the machine's clock. */
    readonly clock?: Clock | undefined;
  }) {
    const faults = staticKeys.map((key, index) => [`static key ${index + 1}`, staticKeyFault(key)]);
    requireValid(Object.fromEntries(faults));
    this.#staticKeys = new Map(staticKeys.map((key) => [hashApiKey(key), staticKeyId(key)]));
    this.#findManaged = apiKeys && cachedFindKey(apiKeys);
    this.#clock = clock;
  }

  async authenticate(credential: string, { signal }: CallOptions = {}): Promise<Authentication> {
    signal?.throwIfAborted();
    const hash = hashApiKey(credential);
    // The time of a look-up by hash reveals nothing of a key, because the hash of a guess cannot be chosen.
    const staticId = this.#staticKeys.get(hash);
    if (staticId !== undefined) return accepted(staticId, SCOPES);

    const id = readApiKeyId(credential);
    if (id === undefined || this.#findManaged === undefined) return UNKNOWN;
    const found = await unlessAborted(this.#findManaged(id, hash), signal);
    if (found === undefined) return UNKNOWN;
    const state = apiKeyState(found, timeOf(this.#clock));
    if (state !== 'active') return { ok: false, reason: state };
    return accepted(found.id, found.scopes.filter(isScope));
  }
}

const UNKNOWN: Authentication = Object.freeze({ ok: false, reason: 'unknown' });

/** A new set for every result: a set cannot be frozen, and a caller's change must not grant scopes to the next. */
const accepted = (keyId: string, scopes: readonly string[]): Authentication => ({
  ok: true,
  principal: { keyId, scopes: new Set(scopes) },
});

/** Settles as `work` does, or rejects with the reason of `signal`. The work continues, because other calls may share it. */
function unlessAborted<Result>(work: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    const stopListening = (): void => signal.removeEventListener('abort', onAbort);
    signal.addEventListener('abort', onAbort);
    void work.then(resolve, reject).finally(stopListening);
  });
}
