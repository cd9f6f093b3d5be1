import { PET_FIELDS, type Pet, type UnsavedPet } from '../../domain/pet.js';
import type { CallOptions, CreatedPet, IdempotencyKey, PetQuery } from '../animal-store.js';

/** The largest number of adds that `import` starts at once. Every store must take as many. */
export const ADDS_AT_ONCE = 64;

/**
 * Driven port: where animals are stored. Every adapter passes `petRepositoryContract`.
 *
 * For all operations:
 * - Arguments never change after the call, so a store may keep them. Animals in results are frozen.
 * - Calls may overlap, in one process and, if the store can be shared, in several. `import` starts 64 adds at once.
 * - They reject with `UnavailableError` when the store is unreachable, cannot write or is closed. Its `cause` is the
 *   technology's own error, which is never thrown itself.
 * - An aborted `signal` rejects with its reason (see `CallOptions`). When a call has settled, it must have removed every
 *   listener that it added to the signal.
 */
export interface PetRepository {
  /**
   * Stores the animal under a new id: positive, never assigned before (even to a removed animal), and greater than
   * every id that this repository returned before. Two repositories on one store may assign from separate ranges.
   * Durable stores resolve after the commit is on disk (or acknowledged by a majority). Every later read sees the animal.
   */
  add(pet: UnsavedPet, options?: CallOptions): Promise<Pet>;

  /**
   * As `add`, but stores the animal at most once for the `scope` and `key` of the claim, even by simultaneous calls and
   * across processes. Without it the store keeps no claims, and creates with an idempotency key are refused.
   *
   * The first call stores animal and claim in one step. Until `keepUntil`, compared with `now`, a later call with the same
   * fingerprint resolves to the animal as it was created, `replayed: true`, and stores nothing. Equal fingerprints mean
   * equal animals, so a claim needs only the id: the replay is `petWithId(id, pet)`, whatever became of the stored animal.
   * @throws {IdempotencyKeyReusedError} the claim was made with another fingerprint. Nothing is stored.
   * @throws {IdempotencyConflictError} another call with the claim is still in progress. Nothing is stored.
   */
  readonly addOnce?:
    | ((pet: UnsavedPet, claim: Claim, now: number, options?: CallOptions) => Promise<CreatedPet>)
    | undefined;

  /** Resolves to `undefined`, never rejects, when no animal has this id, which is an int64. */
  findById(id: bigint, options?: CallOptions): Promise<Pet | undefined>;

  /** Returns the first `limit` animals (1 or more) with an id greater than `after`, in ascending order of id. */
  list(query: PetQuery & { limit: number }, options?: CallOptions): Promise<readonly Pet[]>;
}

/** An idempotency key as a store keeps it. Equal keys of different scopes are different claims. */
export interface Claim extends IdempotencyKey {
  /** Equal for equal animals, different for different ones. */
  readonly fingerprint: string;
  /** From this time on the claim counts as never made, even if it is still stored. In milliseconds since 1970. */
  readonly keepUntil: number;
}

/** A text that is different for every pair of scope and key. */
export const claimId = ({ scope, key }: IdempotencyKey): string => JSON.stringify([scope, key]);

/**
 * What the fingerprint of a claim is made of: equal for equal animals. It depends on the order of the fields. Optional
 * fields at the end that an animal lacks leave no trace, so that a retry of a create from before such a field matches.
 */
export function fingerprintText(pet: UnsavedPet): string {
  const last = PET_FIELDS.findLastIndex((field) => pet[field] !== undefined);
  return JSON.stringify(PET_FIELDS.slice(0, last + 1).map((field) => pet[field]?.toString()));
}

/** What remains of a query once a store has read every part. If a part is added, stores that ignore it do not compile. */
export type NothingElse = Readonly<Record<string, never>>;
