import type { Pet } from '../../domain/pet.js';
import type { CallOptions } from '../call-options.js';

/**
 * Driven port: lets a copy keep the ids of animals. Optional: without it the store cannot be copied. Nothing else may
 * write to the store during a copy. Every adapter passes `catalogueTransferTests`.
 *
 * Arguments, overlapping calls, failures and aborts are as in `PetRepository`. When a write rejects, any part of the
 * batch may have been stored. Writing it again is safe.
 */
export interface CatalogueTransfer {
  /** Returns the greatest id that was assigned or written so far, or a greater one; 0 if none was. */
  lastId(options?: CallOptions): Promise<bigint>;

  /**
   * Stores animals under their ids. Skips animals whose id is taken. The store then assigns only ids above `lastId`.
   * @param lastId at least the greatest of these ids, at most 2^63 - 2^32 - 1, which leaves 2^32 ids for new animals
   */
  writePets(pets: readonly Pet[], lastId: bigint, options?: CallOptions): Promise<void>;
}
