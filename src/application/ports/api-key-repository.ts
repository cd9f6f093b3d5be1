import type { Call } from '../animal-store.js';

/**
 * Driven port: where managed API keys are stored, as hashes only. Every adapter passes `apiKeyRepositoryContract`.
 *
 * Copies, overlapping calls, failures and aborts are as in `PetRepository`. The next read of every process on
 * the same store sees an acknowledged change.
 */
export interface ApiKeyRepository {
  /** Stores a new key. Resolves to `false`, and changes nothing, when its id is taken. */
  add(apiKey: ApiKeyRecord, call?: Call): Promise<boolean>;

  /** Resolves to `undefined`, never rejects, when no key has this id. */
  findById(id: string, call?: Call): Promise<ApiKeyRecord | undefined>;

  /** Returns all keys in ascending order of `createdAt`, then of `id` by code unit. */
  list(call?: Call): Promise<readonly ApiKeyRecord[]>;

  /**
   * Ends a key at an instant, which may be in the future or before 1970. Of several calls the earliest instant counts, so a retry
   * is safe. Resolves to the key as it is now, or to `undefined` when no key has this id.
   */
  revoke(id: string, at: Date, call?: Call): Promise<ApiKeyRecord | undefined>;
}

/**
 * A managed API key as it is stored: everything but the key itself. Times are exact to the millisecond. Its texts hold
 * neither U+0000 nor lone surrogates.
 */
export interface ApiKeyRecord {
  /** Public identifier, part of the key's text; not secret. */
  readonly id: string;
  /** What its owner calls it. */
  readonly name: string;
  /** SHA-256 of the whole key, 64 lower-case hexadecimal digits. */
  readonly hash: string;
  /** What the key may do. Scopes that this version does not know are kept, and grant nothing. */
  readonly scopes: readonly string[];
  /** When the key was issued. */
  readonly createdAt: Date;
  /** The key is valid strictly before this instant. Omitted: it does not expire. */
  readonly expiresAt?: Date | undefined;
  /**
   * The key is revoked from this instant on: before 1970 if it was revoked at once (`ManagedApiKeys` shows the real time).
   * Omitted: it is not revoked.
   */
  readonly revokedAt?: Date | undefined;
}

/** Compares two keys by the order of `list`. */
export const byAge = (one: ApiKeyRecord, other: ApiKeyRecord): number =>
  one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1);
