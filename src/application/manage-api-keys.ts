import { UnavailableError, requireValid } from '../domain/errors.js';
import { isBlank, isLongerThan } from '../domain/text.js';
import type { CallOptions } from './animal-store.js';
import type { ApiKeyRecord, ApiKeyRepository } from './ports/api-key-repository.js';
import { SCOPES, isScope, type Scope } from './ports/authenticator.js';
import { systemClock, timeOf, type Clock } from './ports/clock.js';

/** What people may see of a managed key: neither the key nor its hash. `revokedAt` is the real time of the revocation. */
export interface ManagedApiKey extends Pick<ApiKeyRecord, 'id' | 'name' | 'scopes'> {
  readonly createdAt: Date;
  /** Absent: it does not expire. */
  readonly expiresAt?: Date;
  /** Absent: it is not revoked. */
  readonly revokedAt?: Date;
  /** As of the time it was read. Only `active` keys are accepted. */
  readonly state: 'active' | 'expired' | 'revoked';
}

/** A new key. */
export interface IssuedApiKey {
  /** The key itself. It is stored nowhere: this is the only time it is visible. */
  readonly key: string;
  /** What is stored of it. */
  readonly record: ManagedApiKey;
}

/** What managing keys needs. */
export interface ManagedApiKeysOptions {
  /** Where keys are stored. It is never closed here. */
  readonly apiKeys: ApiKeyRepository;
  /** Makes a new key, with a random id if none is given: `apiKeyGenerator()` of `animal-store/api-keys`. */
  readonly generate: (id?: string) => {
    readonly id: string;
    readonly key: string;
    readonly hash: string;
  };
  /** Default: the machine's clock. */
  readonly clock?: Clock | undefined;
}

/** Manages keys. Every operation may reject with `UnavailableError`. */
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
  async issue(
    request: {
      /** 1 to 100 Unicode characters, not blank, without control characters: terminals show it. */
      readonly name: string;
      /** One or more. */
      readonly scopes: readonly Scope[];
      /** Valid strictly before this instant, which is in the future. Default: it does not expire. */
      readonly expiresAt?: Date | undefined;
    },
    options?: CallOptions,
  ): Promise<IssuedApiKey> {
    const { name, scopes, expiresAt } = request;
    const now = timeOf(this.#clock);
    // Only an omitted expiry means none. Anything else that is no valid Date, such as NaN, is a fault.
    const isInFuture = typeof expiresAt === 'object' && Number(expiresAt) > now;
    requireValid({
      name: nameFault(name),
      scopes: scopesFault(scopes),
      expiresAt: expiresAt === undefined || isInFuture ? undefined : 'must be a Date in the future',
    });
    const fields = {
      name,
      scopes: Object.freeze(SCOPES.filter((scope) => scopes.includes(scope))),
      createdAt: now,
      ...(expiresAt !== undefined && { expiresAt: expiresAt.getTime() }),
    };
    const issued = await this.#add(undefined, fields, options);
    if (issued) return issued;
    // Two of 62^8 random ids almost never collide.
    throw new UnavailableError('adding an API key: its random id is taken, try again');
  }

  /**
   * Issues a key that never expires, with every scope, to a store without keys: one, however many processes start at
   * once, because its id is fixed. Resolves to `undefined` if the store has had such a key.
   */
  async issueFirst(name: string, options?: CallOptions): Promise<IssuedApiKey | undefined> {
    const fields = { name, scopes: SCOPES, createdAt: timeOf(this.#clock) };
    return this.#add(FIRST_ID, fields, options);
  }

  /** Returns every key, oldest first. */
  async list(options?: CallOptions): Promise<readonly ManagedApiKey[]> {
    const apiKeys = await this.#apiKeys.list(options);
    return apiKeys.map((apiKey) => withoutHash(apiKey, timeOf(this.#clock)));
  }

  /**
   * Revokes a key `after` milliseconds from now: a whole number, default 0. With 0 every machine refuses the key at once,
   * even one whose clock is behind. Of several revocations the earliest counts. Resolves to `undefined` if no key has
   * the id.
   * @throws {InvalidParameterError} `after` is not a whole number of 0 or more.
   */
  async revoke(
    id: string,
    options: CallOptions & { readonly after?: number | undefined } = {},
  ): Promise<ManagedApiKey | undefined> {
    const { after = 0, signal } = options;
    const now = timeOf(this.#clock);
    const isDelay = Number.isInteger(after) && after >= 0 && now + after <= LAST_TIME;
    requireValid({
      after: isDelay ? undefined : 'must be a whole number of milliseconds, 0 or more',
    });
    const apiKey = await this.#apiKeys.findById(id, { signal });
    if (apiKey === undefined) return undefined;

    // A key that is revoked already keeps the real time of its revocation.
    const realTime = Math.min(now + after, realRevocationTime(apiKey) ?? Infinity);
    const storedTime = after === 0 ? realTime - IMMEDIATE_OFFSET : realTime;
    const revoked = await this.#apiKeys.revoke(id, storedTime, { signal });
    return revoked && withoutHash(revoked, now);
  }

  /** Resolves to `undefined` if the id is taken. */
  async #add(
    id: string | undefined,
    fields: Omit<ApiKeyRecord, 'id' | 'hash'>,
    options?: CallOptions,
  ) {
    const { key, ...generated } = this.#generate(id);
    const record = Object.freeze({ ...generated, ...fields });
    const isNew = await this.#apiKeys.add(record, options);
    return isNew ? { key, record: withoutHash(record, record.createdAt) } : undefined;
  }
}

/**
 * A thousand years, in milliseconds. An immediate revocation is stored this much before its time, so that it is past on
 * every machine's clock.
 */
const IMMEDIATE_OFFSET = 365_242.5 * 24 * 60 * 60 * 1000;

/** The real time of a revocation. Only immediate ones are stored before 1970. */
function realRevocationTime({ revokedAt }: ApiKeyRecord): number | undefined {
  const isImmediate = revokedAt !== undefined && revokedAt < 0;
  return isImmediate ? revokedAt + IMMEDIATE_OFFSET : revokedAt;
}

function withoutHash(apiKey: ApiKeyRecord, now: number): ManagedApiKey {
  const { id, name, scopes, createdAt, expiresAt } = apiKey;
  const revokedAt = realRevocationTime(apiKey);
  return {
    id,
    name,
    scopes,
    createdAt: new Date(createdAt),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }),
    ...(revokedAt !== undefined && { revokedAt: new Date(revokedAt) }),
    state: apiKeyState(apiKey, now),
  };
}

/** The last time that a `Date` can hold, in milliseconds. */
const LAST_TIME = 8.64e15;

/** The state at the time `now`: expired from `expiresAt` on, revoked from `revokedAt` on, `revoked` before `expired`. */
export function apiKeyState(
  { revokedAt, expiresAt }: ApiKeyRecord,
  now: number,
): ManagedApiKey['state'] {
  // Compared as "is it still before", so that what is no time ends a key and never extends it.
  if (revokedAt !== undefined && !(now < revokedAt)) return 'revoked';
  return expiresAt === undefined || now < expiresAt ? 'active' : 'expired';
}

/** The id of the first key of a store. A random one has it once in 62^8 times. */
const FIRST_ID = '00000000';

function nameFault(name: unknown): string | undefined {
  // Bidirectional controls could make a name look like another one.
  const forbidden = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
  const isShown = typeof name === 'string' && !isBlank(name) && !forbidden.test(name);
  if (isShown && !isLongerThan(name, 100)) return undefined;
  return 'must be 1 to 100 characters, not blank, without control characters';
}

const scopesFault = (scopes: unknown): string | undefined =>
  Array.isArray(scopes) && scopes.length > 0 && scopes.every(isScope)
    ? undefined
    : `must be one or more of ${SCOPES.join(', ')}`;
