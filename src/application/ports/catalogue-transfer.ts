import type { Pet } from '../../domain/pet.js';
import type { CallOptions, IdempotencyKey } from '../animal-store.js';
import type { Claim } from './pet-repository.js';

/**
 * Driven port: what copies and imports of a whole catalogue need beyond the other ports. Animals keep their ids, and
 * live claims move too. Its contract is one of `storeContracts`.
 *
 * Arguments, overlapping calls, failures and aborts are as in `PetRepository`. A batch is not a transaction: when a write
 * rejects, any part of the batch may have been stored. Writing it again is safe.
 */
export interface CatalogueTransfer {
  /** Returns how much is stored, without reading it all. */
  survey(options?: CallOptions): Promise<{
    /** Number of animals; an estimate where counting is expensive, but 0 only if there are none. */
    readonly pets: number;
    /** The greatest id that was ever assigned or reserved; 0 if none was. */
    readonly lastId: bigint;
  }>;

  /** Whether the store is the target of a copy that has not finished: it must not be served. */
  isUnfinished(options?: CallOptions): Promise<boolean>;

  /** Marks the store as the target of a copy that has not finished, or removes the mark. */
  markUnfinished(isUnfinished: boolean, options?: CallOptions): Promise<void>;

  /**
   * Ensures that no id up to `last` is ever assigned. Call it before `writePets`, on a store that nothing else uses.
   * `last` is at most 2^63 - 2^32 - 1, which callers check, so that the store can still assign greater ids.
   */
  reserveIds(last: bigint, options?: CallOptions): Promise<void>;

  /**
   * Stores animals under their ids, in any order. Skips an animal whose id another one has, also an earlier one of the
   * batch: nothing is overwritten. Only this call brings back the id of a removed animal, as when an export is restored.
   * Then the claim of the removed animal ends: a retry of its `add` stores another animal, under a new id.
   */
  writePets(pets: readonly Pet[], options?: CallOptions): Promise<void>;

  /**
   * Returns up to `limit` (1 or more) claims whose `keepUntil` is later than `now`, starting after the claim `after`. The
   * store chooses the order, but always uses the same one.
   */
  readClaims(
    range: {
      readonly after?: IdempotencyKey | undefined;
      readonly limit: number;
      readonly now: number;
    },
    options?: CallOptions,
  ): Promise<readonly PetClaim[]>;

  /** Stores claims of animals that are stored already, replacing those with the same scope and key. */
  writeClaims(claims: readonly PetClaim[], options?: CallOptions): Promise<void>;
}

/** A claim, and the animal that was created for it. */
export interface PetClaim extends Claim {
  /** The animal's id. */
  readonly petId: bigint;
}
