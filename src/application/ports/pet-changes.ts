import type { Pet } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet-status.js';
import type { Call } from '../animal-store.js';

/**
 * Driven port: what changes and removes stored animals. Optional: without it a store only adds and reads. Every adapter
 * passes `petChangesContract`.
 *
 * Each call is one atomic step, in one process and across processes. It is on the disk (or acknowledged by a majority)
 * when it resolves, and every later read sees it. Arguments, overlapping calls, failures and aborts are as in
 * `PetRepository`. A call whose outcome is unknown rejects with `UnavailableError`: it must not take effect twice.
 */
export interface PetChanges {
  /**
   * Gives the animal a status if its status is one of `from`. Resolves to the animal as it is then; to `undefined` when
   * no animal has this id, which is an int64.
   * @throws {StatusConflictError} with the animal's status, which is none of `from`. Nothing is changed.
   */
  changeStatus(
    id: bigint,
    status: PetStatus,
    from: readonly PetStatus[],
    call?: Call,
  ): Promise<Pet | undefined>;

  /**
   * Removes the animal if its status is one of `from`. Resolves to whether there was one. The store never assigns its id
   * again; only `writePets` of `CatalogueTransfer` brings one back. Until then its claim stays valid: a retry of the `add`
   * resolves to the animal as it was created, and does not store it again.
   * @throws {StatusConflictError} with the animal's status, which is none of `from`. Nothing is removed.
   */
  remove(id: bigint, from: readonly PetStatus[], call?: Call): Promise<boolean>;
}
