import type { ApiKeyRecord, ApiKeyRepository } from '../../application/ports/api-key-repository.js';
import { SCOPES, isScope, type Scope } from '../../application/ports/authenticator.js';
import { systemClock, type Clock } from '../../application/ports/clock.js';
import { InvalidParameterError, UnavailableError, type Fault } from '../../domain/errors.js';
import { environmentFault, generateApiKey } from './api-key-format.js';
import { ApiKeyError } from './api-key-error.js';
import { apiKeyState, type ApiKeyState } from './api-key-state.js';

/** What people may see of a managed key: neither the key nor its hash. */
export interface ManagedApiKey extends Omit<ApiKeyRecord, 'hash'> {
  /** What it was worth when it was read. */
  readonly state: ApiKeyState;
}

/** A key that was made just now. */
export interface IssuedApiKey {
  /** The key itself. It is nowhere kept: this is the only time it is seen. */
  readonly key: string;
  /** What is kept of it, to be shown to people. */
  readonly record: ManagedApiKey;
}

/** A key that took the place of another. */
export interface RotatedApiKey extends IssuedApiKey {
  /** The old key as it is now. Absent if its revocation failed: it may still be valid. */
  readonly old?: ManagedApiKey;
  /** Why the revocation of the old key failed. */
  readonly revocationError?: unknown;
}

/** What a new key is to be. */
export interface ApiKeyRequest {
  /** 1 to 100 characters (UTF-16 code units), not blank, without control characters: it is shown on terminals. */
  readonly name: string;
  /** One or more; every scope when left out. */
  readonly scopes?: readonly Scope[] | undefined;
  /**
   * Valid strictly before this instant, which must be in the future and in the year 9999 at the latest; for
   * ever when left out.
   */
  readonly expiresAt?: Date | undefined;
}

/** What managing keys works with. */
export interface ManagedApiKeysOptions {
  /** Where keys are kept. Whoever opened it closes it. */
  readonly apiKeys: ApiKeyRepository;
  /** The machine's clock when left out. */
  readonly clock?: Clock | undefined;
  /** The word in new keys that says where they belong: 1 to 16 of a-z and 0-9, `live` when left out. */
  readonly environment?: string | undefined;
}

/**
 * What the owner of the store does with managed keys. Every operation rejects with `UnavailableError`
 * when the store cannot do its work.
 */
export class ManagedApiKeys {
  readonly #apiKeys: ApiKeyRepository;
  readonly #clock: Clock;
  readonly #environment: string;

  /** @throws {InvalidParameterError} the environment word is none. */
  constructor({ apiKeys, clock = systemClock, environment = 'live' }: ManagedApiKeysOptions) {
    const fault = environmentFault(environment);
    if (fault !== undefined) throw new InvalidParameterError([{ field: 'environment', message: fault }]);
    this.#apiKeys = apiKeys;
    this.#clock = clock;
    this.#environment = environment;
  }

  /**
   * Makes a new key.
   * @throws {InvalidParameterError} naming every fault of the request; nothing was stored.
   */
  async issue({ name, scopes = SCOPES, expiresAt }: ApiKeyRequest): Promise<IssuedApiKey> {
    const now = this.#clock.now();
    const faults: Fault[] = [];
    const note = (field: string, message: string | undefined): void => {
      if (message !== undefined) faults.push({ field, message });
    };
    note('name', keyNameFault(name));
    note('scopes', scopesFault(scopes));
    note('expiresAt', expiryFault(expiresAt, now));
    if (faults.length > 0) throw new InvalidParameterError(faults);
    return this.#add({ name, scopes: SCOPES.filter((scope) => scopes.includes(scope)), expiresAt }, now);
  }

  /** Every key, the oldest first. */
  async list(): Promise<readonly ManagedApiKey[]> {
    const keys = await this.#apiKeys.list();
    const now = this.#clock.now();
    return keys.map((key) => shown(key, now));
  }

  /**
   * Ends a key, `after` milliseconds from now (default 0). Of several revocations the earliest instant counts.
   * @throws {ApiKeyError} `unknown_key`.
   */
  async revoke(id: string, { after = 0 }: { readonly after?: number } = {}): Promise<ManagedApiKey> {
    const now = this.#clock.now();
    const apiKey = await this.#apiKeys.revoke(id, new Date(now.getTime() + after));
    if (apiKey === undefined) throw new ApiKeyError('unknown_key');
    return shown(apiKey, now);
  }

  /**
   * Issues a key like an old one, with as long a life, and revokes the old one `overlap` milliseconds from now.
   * @throws {ApiKeyError} `unknown_key`, or `not_rotatable`: revoked or expired.
   */
  async rotate(id: string, { overlap }: { readonly overlap: number }): Promise<RotatedApiKey> {
    const now = this.#clock.now();
    const old = await this.#apiKeys.findById(id);
    if (old === undefined) throw new ApiKeyError('unknown_key');
    requireRotatable(old, now);
    const issued = await this.#add({ ...old, expiresAt: sameLifeFrom(now, old) }, now);
    try {
      return { ...issued, old: await this.revoke(id, { after: overlap }) };
    } catch (revocationError) {
      return { ...issued, revocationError }; // the caller must get the new key in any case
    }
  }

  async #add(
    { name, scopes, expiresAt }: Pick<ApiKeyRecord, 'name' | 'scopes' | 'expiresAt'>,
    createdAt: Date,
  ): Promise<IssuedApiKey> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const { id, key, hash } = generateApiKey(this.#environment);
      const expiry = expiresAt && { expiresAt: new Date(expiresAt) };
      const record: ApiKeyRecord = { id, name, hash, scopes: [...scopes], createdAt, ...expiry };
      if (await this.#apiKeys.add(record)) return { key, record: shown(record, createdAt) };
    }
    throw new UnavailableError(`adding a key: ${ATTEMPTS} new ids were all taken`);
  }
}

/** Two ids of 62^8 hardly ever meet; a store that calls every one taken is broken. */
const ATTEMPTS = 10;

function shown(key: ApiKeyRecord, now: Date): ManagedApiKey {
  const { hash: _, ...rest } = key;
  return { ...rest, state: apiKeyState(key, now) };
}

/** The instant at which a key made now has lived as long as `key` was to live. */
const sameLifeFrom = (now: Date, { createdAt, expiresAt }: ApiKeyRecord): Date | undefined =>
  expiresAt && new Date(now.getTime() + (expiresAt.getTime() - createdAt.getTime()));

function requireRotatable(key: ApiKeyRecord, now: Date): void {
  // Revoked at any time at all: a revocation may have come in after `now` was read, or from a clock that is ahead.
  if (key.revokedAt !== undefined) throw new ApiKeyError('not_rotatable', 'it is revoked');
  if (apiKeyState(key, now) === 'expired') throw new ApiKeyError('not_rotatable', 'it has expired');
}

/** The rule that a key's name breaks, or `undefined`. Bidirectional controls could show it as another name. */
function keyNameFault(name: unknown): string | undefined {
  if (typeof name !== 'string') return 'must be a string';
  if (/^\p{White_Space}*$/u.test(name)) return 'must not be blank';
  if (name.length > 100) return 'must have at most 100 characters';
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(name)) return 'must not contain control characters';
  if (!name.isWellFormed()) return 'must not contain lone surrogates';
  return undefined;
}

/** Far enough, and far from the end of what a Date can hold: rotation gives the new key as long a life again. */
const LATEST_EXPIRY = new Date('9999-12-31T23:59:59.999Z');

const expiryFault = (expiresAt: Date | undefined, now: Date): string | undefined =>
  expiresAt === undefined || (expiresAt > now && expiresAt <= LATEST_EXPIRY)
    ? undefined
    : 'must be in the future, and in the year 9999 at the latest';

const scopesFault = (scopes: readonly unknown[]): string | undefined =>
  scopes.length > 0 && scopes.every(isScope) ? undefined : `must be one or more of ${SCOPES.join(', ')}`;
