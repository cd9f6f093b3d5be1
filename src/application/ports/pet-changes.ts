import type { Pet, UnsavedPet } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet-status.js';
import type { CallOptions } from '../call-options.js';

/**
 * Driven port: changes and removes stored animals. Optional: without it a store only adds and reads. Every adapter
 * passes `petChangesTests`.
 *
 * Each call is one atomic step, in one process and across processes. Durable stores resolve as in `add`, and every
 * later read sees the change. Arguments, overlapping calls, failures and aborts are as in `PetRepository`. If the
 * outcome is unknown, the call rejects with `UnavailableError`. A store does not retry the change: it could take effect
 * twice.
 */
export interface PetChanges {
  /**
   * Gives the animal the fields of `change`, at least one; its other fields stay. Resolves to the changed animal, or
   * to `undefined` when no animal has this id.
   * @param from the status that the animal must have; `undefined`: any
   * @throws {StatusConflictError} the animal has another status. Nothing is changed.
   */
  change(
    id: bigint,
    change: Partial<UnsavedPet>,
    from: PetStatus | undefined,
    options?: CallOptions,
  ): Promise<Pet | undefined>;

  /**
   * Removes the animal. Resolves to `false` when no animal has this id. The store never assigns its id again, and its
   * claim stays valid: a retry of its `addOnce` resolves to the animal as it was created.
   * @param from the status that the animal must have; `undefined`: any
   * @throws {StatusConflictError} the animal has another status. Nothing is removed.
   */
  remove(id: bigint, from: PetStatus | undefined, options?: CallOptions): Promise<boolean>;
}
