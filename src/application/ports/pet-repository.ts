import type { Pet, UnsavedPet } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet-status.js';
import type { Call } from '../call.js';

/**
 * Driven port: where animals are kept. Every adapter passes `petRepositoryContract`.
 *
 * For all operations:
 * - Results are frozen or fresh: nothing that a caller does to an argument or a result changes the store.
 * - Calls may overlap, in one process and, where `capabilities.shared`, in several.
 * - When the store cannot be reached, cannot write or is closed they reject with `StoreUnavailableError`,
 *   carrying the technology's own error as `cause`; no other error of the technology gets out.
 * - An aborted `call.signal` rejects with its reason (see `Call`).
 */
export interface PetRepository {
  /** What this store can do beyond the promises below. The same for as long as the adapter lives. */
  readonly capabilities: PetRepositoryCapabilities;

  /**
   * Keeps the animal and assigns its id: positive, never one that was assigned before, whatever became of that
   * animal, and greater than every id in an answer that this repository gave before. Of two repositories on
   * one store each may have a range of ids of its own, so that together they need not ascend.
   * Resolves only when the animal is as safe as the store can make it: durable stores answer after the
   * commit is on disk (or acknowledged by a majority), and any later read sees the animal.
   *
   * With a claim the animal is kept at most once for `scope` and `token`, also by simultaneous calls and
   * across processes: the first call keeps animal and claim in one step; until `keepUntil` a later one with
   * the same fingerprint resolves to the animal as it was created, `replayed: true`, and keeps nothing.
   * @throws {IdempotencyKeyReusedError} the claim was made with another fingerprint; nothing is kept.
   * @throws {IdempotencyConflictError} the claim is another call's that is still undecided; nothing is kept.
   */
  add(pet: UnsavedPet, options?: AddOptions): Promise<Added>;

  /** Resolves to `undefined`, never rejects, when no animal has this id. */
  findById(id: bigint, call?: Call): Promise<Pet | undefined>;

  /** The first `limit` animals with an id greater than `after`, of this status if one is given, ascending by id. */
  list(page: PetRange, call?: Call): Promise<readonly Pet[]>;

  /** Resolves if the store would serve now; else rejects with `StoreUnavailableError`. Cheap: asked every second. */
  check(call?: Call): Promise<void>;

  /** Lets go of everything the adapter opened; calls in flight are finished or rejected. Safe to call twice. */
  close(): Promise<void>;
}

/** What a store can do beyond the common promises. Contract suites hold it to what it claims. */
export interface PetRepositoryCapabilities {
  /** Everything answered survives the end of the process. */
  readonly durable: boolean;
  /** Several processes may use the same store at the same time. */
  readonly shared: boolean;
  /**
   * Ids ascend over all processes, in the order in which animals come to be seen: who has seen one is never
   * shown a lower one that was not there before. So whoever goes on after the last id seen misses none.
   * Left out: they need not.
   */
  readonly ordered?: boolean | undefined;
}

/** What goes with the keeping of one animal. */
export interface AddOptions extends Call {
  /** The right to keep it once. Left out, every call keeps an animal of its own. */
  readonly claim?: Claim | undefined;
}

/** What came of keeping an animal. */
export interface Added {
  /** As it is kept, with its id: frozen, or a copy that is the caller's alone. */
  readonly pet: Pet;
  /** The animal is that of an earlier call with the same claim. */
  readonly replayed: boolean;
}

/** The right to create one animal, once: what makes a repeated create safe. */
export interface Claim {
  /** Whose token it is: tokens of different scopes never meet. */
  readonly scope: string;
  /** What the caller repeats when it repeats the call. */
  readonly token: string;
  /** Tells animals apart: equal for equal animals, different for different ones. */
  readonly fingerprint: string;
  /** The time of this call. A claim whose `keepUntil` is not after it has lapsed and counts as never made. */
  readonly now: Date;
  /** Until when the claim is kept; it may be kept longer only as dead weight, never honoured. */
  readonly keepUntil: Date;
}

/** A stretch of the animals in ascending order of their ids. */
export interface PetRange {
  /** Only animals with a greater id; all when left out. */
  readonly after?: bigint | undefined;
  /** How many at most: 1 or more. */
  readonly limit: number;
  /** Only animals with this status; all when left out. */
  readonly status?: PetStatus | undefined;
}
