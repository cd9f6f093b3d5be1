import type { Pet, UnsavedPet } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet-status.js';
import type { CreatedPet, IdempotencyKey } from '../animal-store.js';
import type { CallOptions } from '../call-options.js';

/**
 * Driven port: where animals are stored. Every adapter passes `petRepositoryTests`.
 *
 * For all operations:
 * - Ids are int64. Arguments never change after the call, so a store may keep them. Animals in results are frozen.
 * - Calls may overlap, also across the processes that share the store. An import starts many at once.
 * - A call rejects with `UnavailableError` when the store is unreachable, cannot write or is closed. The technology's
 *   own error is its `cause`.
 * - A call whose `signal` is aborted rejects with its reason (see `CallOptions`). When a call has settled, it must have
 *   removed every listener that it added to the signal.
 */
export interface PetRepository {
  /**
   * Stores the animal under a new id: positive, never assigned before, not even to a removed animal, and greater than
   * every id that this repository returned before the call. Two repositories on one store may assign from separate
   * ranges. Durable stores resolve after the commit is on disk (or acknowledged by a majority). Every later read sees
   * the animal.
   */
  add(pet: UnsavedPet, options?: CallOptions): Promise<Pet>;

  /**
   * As `add`, but stores the animal at most once for the scope and key of the claim, also if calls overlap, in one
   * process or several. Animal and claim are stored in one step.
   *
   * While the stored claim is valid (`now` is less than its `keepUntil`), a later call stores nothing:
   * - With an equal fingerprint it resolves to the animal as it was created, `replayed: true`: the given fields under
   *   the id that is stored with the claim. The animal may have been changed or removed since.
   * - With another fingerprint it rejects with `IdempotencyKeyReusedError`.
   * @throws {IdempotencyConflictError} an earlier call for this scope and key is still in progress. Nothing is stored.
   */
  addOnce(pet: UnsavedPet, claim: Claim, now: number, options?: CallOptions): Promise<CreatedPet>;

  /** Resolves to `undefined` when no animal has this id. */
  findById(id: bigint, options?: CallOptions): Promise<Pet | undefined>;

  /** Returns the first animals of a range, in ascending order of id. */
  list(range: PetRange, options?: CallOptions): Promise<readonly Pet[]>;
}

/** Which animals `list` returns. */
export interface PetRange {
  /** The largest number of animals: 1 to 1,000. A copy reads larger pages than `listPets`. */
  readonly limit: number;
  /** Only animals with a greater id. */
  readonly after?: bigint | undefined;
  /** Only animals with this status. */
  readonly status?: PetStatus | undefined;
}

/** An idempotency key as a store keeps it. Equal keys of different scopes are different claims. */
export interface Claim extends IdempotencyKey {
  /** Equal for equal animals, different for different ones: `fingerprintOf`. */
  readonly fingerprint: string;
  /**
   * Milliseconds since 1970. From then on the key counts as unused. A store that several processes share removes the
   * claim only `CLOCK_TOLERANCE` later.
   */
  readonly keepUntil: number;
}

/** How long a shared store keeps an expired claim, for callers whose clock is behind: an hour, in milliseconds. */
export const CLOCK_TOLERANCE = 60 * 60 * 1000;
