import { UnavailableError, requireNoFaults } from '../domain/errors.js';
import { isBlank, isLongerThan } from '../domain/text.js';
import { apiKeyState, type ApiKeyState } from './api-key-state.js';
import type { CallOptions } from './call-options.js';
import type { ApiKeyRecord, ApiKeyRepository } from './ports/api-key-repository.js';
import { SCOPES, isScope, type Scope } from './ports/authenticator.js';
import { systemClock, type Clock } from './ports/clock.js';

/** A key that the store keeps, without its hash: safe to show. */
export interface ManagedApiKey extends Pick<ApiKeyRecord, 'id' | 'name' | 'scopes'> {
  readonly createdAt: Date;
  /** Absent: it does not expire. */
  readonly expiresAt?: Date;
  /** Absent: it is not revoked. */
  readonly revokedAt?: Date;
  /** As of the time it was read. Only `active` keys are accepted. */
  readonly state: ApiKeyState;
}

/** A new key. */
export interface IssuedApiKey {
  /** The key itself. It is stored nowhere: this is the only time it is visible. */
  readonly key: string;
  /** The key as `list` returns it. */
  readonly details: ManagedApiKey;
}

type GeneratedKey = Pick<ApiKeyRecord, 'id' | 'hash'> & { readonly key: string };

/** Dependencies of `ManagedApiKeys`. */
export interface ManagedApiKeysOptions {
  /** Where keys are stored. */
  readonly apiKeys: ApiKeyRepository;
  /** Makes a new key, with a random id if none is given: `generateApiKey` of `animal-store/api-keys`. */
  readonly generate: (id?: string) => GeneratedKey;
  /** Default: the machine's clock. */
  readonly clock?: Clock | undefined;
}

/** A request for a new key. */
export interface ApiKeyRequest {
  /** 1 to 100 Unicode characters, not blank, without control characters: terminals show it. */
  readonly name: string;
  /** One or more. Required, because a misspelled member must not make a key of every scope. */
  readonly scopes: readonly Scope[];
  /** Valid strictly before this instant, which is in the future. Default: it does not expire. */
  readonly expiresAt?: Date | undefined;
}

/** The id of a store's first key. A random id is the same once in 62^8 times. */
const FIRST_ID = '00000000';

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
  async issue(request: ApiKeyRequest, options?: CallOptions): Promise<IssuedApiKey> {
    const issued = await this.#add(this.#generate(), request, options);
    if (issued) return issued;
    // Not retried: it almost never happens.
    throw new UnavailableError('adding an API key: its random id is taken, try again');
  }

  /**
   * Issues the key with the id `00000000`: every scope, no expiry. Resolves to `undefined` if this id was ever issued,
   * so only one of several processes that start at once issues it. Whether other keys exist does not matter.
   */
  issueFirst(name: string, options?: CallOptions): Promise<IssuedApiKey | undefined> {
    return this.#add(this.#generate(FIRST_ID), { name, scopes: SCOPES }, options);
  }

  /** Returns every key, oldest first. */
  async list(options?: CallOptions): Promise<readonly ManagedApiKey[]> {
    const apiKeys = await this.#apiKeys.list(options);
    const now = this.#now();
    return apiKeys.map((apiKey) => managedApiKey(apiKey, now));
  }

  /** Revokes a key permanently. Resolves to `undefined` if no key has the id. */
  async revoke(id: string, options?: CallOptions): Promise<ManagedApiKey | undefined> {
    const now = this.#now();
    const revoked = await this.#apiKeys.revoke(id, now, options);
    return revoked && managedApiKey(revoked, now);
  }

  /**
   * Resolves to `undefined` if the id is taken.
   * @throws {InvalidParameterError} naming every fault of the request. Nothing was stored.
   */
  async #add(
    { key, ...generated }: GeneratedKey,
    { name, scopes, expiresAt }: ApiKeyRequest,
    options: CallOptions | undefined,
  ) {
    requireNoFaults({
      name: nameFault(name),
      scopes: scopesFault(scopes),
      expiresAt: this.#expiryFault(expiresAt),
    });
    const record: ApiKeyRecord = {
      ...generated,
      name,
      scopes: Object.freeze(SCOPES.filter((scope) => scopes.includes(scope))),
      createdAt: this.#now(),
      expiresAt: expiresAt?.getTime(),
    };
    const isNew = await this.#apiKeys.add(record, options);
    return isNew ? { key, details: managedApiKey(record, record.createdAt) } : undefined;
  }

  /** Only `undefined` means no expiry: `null` is a fault. */
  #expiryFault(expiresAt: unknown): string | undefined {
    if (expiresAt === undefined) return undefined;
    const isInFuture = expiresAt instanceof Date && expiresAt.getTime() > this.#now();
    return isInFuture ? undefined : 'must be a Date in the future';
  }

  #now(): number {
    return this.#clock.now().getTime();
  }
}

function managedApiKey(apiKey: ApiKeyRecord, now: number): ManagedApiKey {
  const { id, name, scopes, createdAt, expiresAt, revokedAt } = apiKey;
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

function nameFault(name: unknown): string | undefined {
  // Bidirectional controls could make a name look like another one.
  const forbidden = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
  const isPrintable = typeof name === 'string' && !isBlank(name) && !forbidden.test(name);
  if (isPrintable && !isLongerThan(name, 100)) return undefined;
  return 'must be 1 to 100 characters, not blank, without control characters';
}

const scopesFault = (scopes: unknown): string | undefined =>
  Array.isArray(scopes) && scopes.length > 0 && scopes.every(isScope)
    ? undefined
    : `must be one or more of ${SCOPES.join(', ')}`;
