import { InvalidParameterError, UnavailableError } from '../domain/errors.js';
import type { ApiKeyRecord, ApiKeyRepository } from './ports/api-key-repository.js';
import { SCOPES, isScope, type Scope } from './ports/authenticator.js';
import { systemClock, type Clock } from './ports/clock.js';

/** What people may see of a managed key: neither the key nor its hash. */
export interface ManagedApiKey extends Omit<ApiKeyRecord, 'hash'> {
  /** The state at the time it was read. Only `active` keys are accepted. */
  readonly state: 'active' | 'expired' | 'revoked';
}

/** A new key. */
export interface IssuedApiKey {
  /** The key itself. It is stored nowhere: this is the only time it is visible. */
  readonly key: string;
  /** What is stored of it. */
  readonly record: ManagedApiKey;
}

/** A new key that takes over from an old one. */
export interface RotatedApiKey extends IssuedApiKey {
  /** The old key with its revocation; absent if the store did not confirm it. */
  readonly old?: ManagedApiKey;
  /** Why the store did not confirm the revocation. The old key may still be valid: revoke it again. */
  readonly revocationError?: unknown;
}

/** What a new key should be. */
export interface ApiKeyRequest {
  /** 1 to 100 UTF-16 code units, not blank, without control characters: terminals show it. */
  readonly name: string;
  /** One or more. Default: every scope. */
  readonly scopes?: readonly Scope[] | undefined;
  /** Valid strictly before this instant: in the future, at most the year 9999. Default: it does not expire. */
  readonly expiresAt?: Date | undefined;
}

/** What managing keys needs. */
export interface ManagedApiKeysOptions {
  /** Where keys are stored. Whoever opened it closes it. */
  readonly apiKeys: ApiKeyRepository;
  /** Makes a new key with a random id: `apiKeyGenerator()` of `animal-store/api-keys`. */
  readonly generate: () => { readonly id: string; readonly key: string; readonly hash: string };
  /** Default: the machine's clock. */
  readonly clock?: Clock | undefined;
}

/** An operation on managed keys is not possible. The message never repeats the id: it may be a key, given by mistake. */
export class ApiKeyError extends Error {
  override readonly name = 'ApiKeyError';
  /** Why, for programs: no key has this id; or the key is revoked (also if only later) or expired. */
  readonly code: 'unknown_key' | 'not_rotatable';

  constructor(code: ApiKeyError['code']) {
    super(code === 'unknown_key' ? 'No API key has this id.' : 'A revoked or expired key cannot be rotated.');
    this.code = code;
  }
}

/** Issues, lists, revokes and rotates managed keys. Every operation may reject with `UnavailableError`. */
export class ManagedApiKeys {
  readonly #apiKeys: ApiKeyRepository;
  readonly #generate: ManagedApiKeysOptions['generate'];
  readonly #clock: Clock;

  constructor({ apiKeys, generate, clock = systemClock }: ManagedApiKeysOptions) {
    this.#apiKeys = apiKeys;
    this.#generate = generate;
    this.#clock = clock;
  }

  /**
   * Issues a new key.
   * @throws {InvalidParameterError} naming every fault of the request. Nothing was stored.
   */
  async issue({ name, scopes = SCOPES, expiresAt }: ApiKeyRequest): Promise<IssuedApiKey> {
    const now = this.#clock.now();
    const rules = {
      name: isKeyName(name) || 'must be 1 to 100 characters, not blank, without control characters',
      scopes: (scopes.length > 0 && scopes.every(isScope)) || `must be one or more of ${SCOPES.join(', ')}`,
      expiresAt:
        expiresAt === undefined ||
        (expiresAt > now && expiresAt < YEAR_10000) ||
        'must be in the future, at most the year 9999',
    };
    const faults = Object.entries(rules).flatMap(([field, rule]) =>
      rule === true ? [] : [{ field, message: rule }],
    );
    if (faults.length > 0) throw new InvalidParameterError(faults);
    const inOrder = SCOPES.filter((scope) => scopes.includes(scope));
    return this.#add({ name, scopes: inOrder, createdAt: now, ...(expiresAt && { expiresAt }) });
  }

  /** Returns every key, oldest first. */
  async list(): Promise<readonly ManagedApiKey[]> {
    const apiKeys = await this.#apiKeys.list();
    return apiKeys.map((apiKey) => withoutHash(apiKey, this.#clock.now()));
  }

  /**
   * Revokes a key `after` milliseconds from now, or at once (default 0): as of 1970, which is past on every machine's
   * clock. Of several revocations the earliest counts.
   * @throws {ApiKeyError} `unknown_key`.
   * @throws {InvalidParameterError} `after` is not a whole number of 0 or more.
   */
  async revoke(id: string, { after = 0 }: { after?: number | undefined } = {}): Promise<ManagedApiKey> {
    const now = this.#clock.now();
    const at = later(now, after, 'after');
    const revoked = await this.#apiKeys.revoke(id, after === 0 ? new Date(0) : at);
    if (revoked === undefined) throw new ApiKeyError('unknown_key');
    return withoutHash(revoked, now);
  }

  /**
   * Issues a key with the name and scopes of an old one and, if that one expires, as long a life from now. Then revokes
   * the old one `overlap` milliseconds from now. If the store does not confirm the revocation, the new key is returned
   * all the same, with `revocationError`: at least one valid key is left.
   * @throws {ApiKeyError} `unknown_key` or `not_rotatable`. Nothing was stored.
   * @throws {InvalidParameterError} `overlap` is not a whole number of 0 or more. Nothing was stored.
   */
  async rotate(id: string, { overlap }: { readonly overlap: number }): Promise<RotatedApiKey> {
    const now = this.#clock.now();
    later(now, overlap, 'overlap');
    const old = await this.#apiKeys.findById(id);
    if (old === undefined) throw new ApiKeyError('unknown_key');
    if (old.revokedAt !== undefined || apiKeyState(old, now) !== 'active') {
      throw new ApiKeyError('not_rotatable');
    }
    const { name, scopes, createdAt, expiresAt } = old;
    const expiry = expiresAt && {
      expiresAt: new Date(now.getTime() + expiresAt.getTime() - createdAt.getTime()),
    };
    const issued = await this.#add({ name, scopes, createdAt: now, ...expiry });
    try {
      return { ...issued, old: await this.revoke(id, { after: overlap }) };
    } catch (revocationError) {
      return { ...issued, revocationError };
    }
  }

  async #add(fields: Omit<ApiKeyRecord, 'id' | 'hash'>): Promise<IssuedApiKey> {
    const { key, ...generated } = this.#generate();
    const record = { ...generated, ...fields };
    if (await this.#apiKeys.add(record)) return { key, record: withoutHash(record, record.createdAt) };
    // Two of 62^8 random ids almost never collide.
    throw new UnavailableError('adding an API key: its random id is taken, try again');
  }
}

function later(now: Date, milliseconds: number, field: string): Date {
  const date = new Date(now.getTime() + milliseconds);
  if (Number.isInteger(milliseconds) && milliseconds >= 0 && !Number.isNaN(date.getTime())) return date;
  throw new InvalidParameterError([{ field, message: 'must be a whole number of milliseconds, 0 or more' }]);
}

function withoutHash(apiKey: ApiKeyRecord, now: Date): ManagedApiKey {
  const { hash: _, ...rest } = apiKey;
  return { ...rest, state: apiKeyState(apiKey, now) };
}

/** The state at the instant `now`: expired from `expiresAt` on, revoked from `revokedAt` on, `revoked` before `expired`. */
export function apiKeyState({ revokedAt, expiresAt }: ApiKeyRecord, now: Date): ManagedApiKey['state'] {
  // Compared as "is it still before", so that an invalid date ends a key and never extends it.
  if (revokedAt !== undefined && !(now < revokedAt)) return 'revoked';
  return expiresAt === undefined || now < expiresAt ? 'active' : 'expired';
}

/** Bidirectional controls could make a name look like another one. */
const isKeyName = (name: unknown): boolean =>
  typeof name === 'string' &&
  name.length <= 100 &&
  !/^\p{White_Space}*$|[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(name);

/** Far from the largest Date: rotation adds the same lifetime again. */
const YEAR_10000 = new Date('+010000-01-01T00:00:00.000Z');
