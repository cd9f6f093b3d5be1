import type { CallOptions } from '../call-options.js';

/**
 * Driven port: where managed API keys are stored, as hashes only. Every adapter passes `apiKeyRepositoryTests`.
 *
 * Arguments, overlapping calls, failures and aborts are as in `PetRepository`. After a change is acknowledged, every
 * later read sees it, in every process on the store.
 */
export interface ApiKeyRepository {
  /** Stores a new key. Resolves to `false`, and changes nothing, when the id is taken. */
  add(apiKey: ApiKeyRecord, options?: CallOptions): Promise<boolean>;

  /** Resolves to `undefined` when no key has this id. */
  findById(id: string, options?: CallOptions): Promise<ApiKeyRecord | undefined>;

  /** Returns all keys in ascending order of `createdAt`. */
  list(options?: CallOptions): Promise<readonly ApiKeyRecord[]>;

  /**
   * Revokes a key permanently. A second revocation keeps the time of the first. Resolves to the revoked key, or to
   * `undefined` when no key has this id.
   */
  revoke(id: string, revokedAt: number, options?: CallOptions): Promise<ApiKeyRecord | undefined>;
}

/**
 * A managed API key as it is stored: everything but the key itself. Times are whole milliseconds since 1970. Its
 * texts hold neither U+0000 nor lone surrogates.
 */
export interface ApiKeyRecord {
  /** Public identifier, part of the key's text; not secret. */
  readonly id: string;
  /** For people, such as `shop-window`. */
  readonly name: string;
  /** SHA-256 of the whole key, 64 lower-case hexadecimal digits. */
  readonly hash: string;
  /** What the key may do. Scopes that this version does not know are kept, and grant nothing. */
  readonly scopes: readonly string[];
  /** When the key was issued. */
  readonly createdAt: number;
  /** The key is valid strictly before this instant. Omitted: it does not expire. */
  readonly expiresAt?: number | undefined;
  /** When the key was first revoked. Any value, even a future one, means that it is revoked. */
  readonly revokedAt?: number | undefined;
}
