import type { Call } from '../call.js';
import type { Scope } from './authenticator.js';

/**
 * Driven port: where managed API keys are kept, as hashes only. Every adapter passes `apiKeyRepositoryContract`.
 *
 * What is said of copies, overlapping calls, failure, abort and close in `PetRepository` holds here too.
 * An acknowledged change is seen by the next read of every process on the same store.
 */
export interface ApiKeyRepository {
  /** Keeps a new key. Resolves to `false`, and changes nothing, when its id is taken already. */
  add(key: ApiKeyRecord, call?: Call): Promise<boolean>;

  /** Resolves to `undefined`, never rejects, when no key has this id. */
  findById(id: string, call?: Call): Promise<ApiKeyRecord | undefined>;

  /** All keys, in ascending order of `createdAt`, then of `id` by code unit. */
  list(call?: Call): Promise<readonly ApiKeyRecord[]>;

  /**
   * Replaces the key by what `change` makes of it, as one step: of two simultaneous updates both take effect,
   * in some order. `change` may be called more than once; if it throws, the call rejects with that error and
   * nothing changes. The id, the hash and the time of creation stay, whatever `change` returns.
   * Resolves to the key as it is now, or to `undefined` when no key has this id.
   */
  update(
    id: string,
    change: (key: ApiKeyRecord) => ApiKeyRecord,
    call?: Call,
  ): Promise<ApiKeyRecord | undefined>;

  /** Lets go of everything the adapter opened. Safe to call twice. */
  close(): Promise<void>;
}

/** A managed API key as it is kept: all there is but the key itself. Times are exact to the millisecond. */
export interface ApiKeyRecord {
  /** Names the key; part of the key's text, and no secret. */
  readonly id: string;
  /** What its owner calls it: any text without U+0000 and lone surrogates, which stores cut or replace. */
  readonly name: string;
  /** SHA-256 of the whole key, 64 lower-case hexadecimal digits. */
  readonly hash: string;
  /** In the order of `SCOPES`. */
  readonly scopes: readonly Scope[];
  /** When it was issued, by the clock of the machine that did it. */
  readonly createdAt: Date;
  /** Valid strictly before this instant; for ever when left out. */
  readonly expiresAt?: Date | undefined;
  /** When it was revoked; a key that has it is not valid, whatever any clock says. */
  readonly revokedAt?: Date | undefined;
  /** The id of the key that rotation put in its place. */
  readonly replacedBy?: string | undefined;
}

/** Compares two keys by the order of `list`. */
export const byAge = (one: ApiKeyRecord, other: ApiKeyRecord): number =>
  one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1);
