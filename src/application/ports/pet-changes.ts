import { PreconditionFailedError, StatusConflictError } from '../../domain/errors.js';
import { isSamePet, type Pet, type UnsavedPet } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet-status.js';
import type { CallOptions } from '../animal-store.js';

/**
 * Driven port: what changes and removes stored animals. Optional: without it a store only adds and reads. Its
 * contract is one of `storeContracts`.
 *
 * Each call is one atomic step, in one process and across processes. It is on the disk (or acknowledged by a majority)
 * when it resolves, and every later read sees it. Arguments, overlapping calls, failures and aborts are as in
 * `PetRepository`. A call whose outcome is unknown rejects with `UnavailableError`: it must not take effect twice.
 */
export interface PetChanges {
  /**
   * Gives the animal the fields of `change`, at least one, if it meets the condition; its other fields stay. Resolves to
   * the animal as it is then; to `undefined` when no animal has this id, which is an int64.
   * @throws the error of `unmetCondition`. Nothing is changed.
   */
  change(
    id: bigint,
    change: Partial<UnsavedPet>,
    condition: PetCondition,
    options?: CallOptions,
  ): Promise<Pet | undefined>;

  /**
   * Removes the animal if it meets the condition. Resolves to whether there was one. The store never assigns its id
   * again; only `writePets` of `CatalogueTransfer` brings one back. Until then its claim stays valid: a retry of the `add`
   * resolves to the animal as it was created, and does not store it again.
   * @throws the error of `unmetCondition`. Nothing is removed.
   */
  remove(id: bigint, condition: PetCondition, options?: CallOptions): Promise<boolean>;
}

/**
 * What an animal must be for a change: in one of these statuses, or in every field as it was read. `PET_STATUSES`
 * is met by every animal. Frozen.
 */
export type PetCondition = readonly PetStatus[] | Pet;

/** The error for an animal that does not meet the condition, else `undefined`. Every store decides by it. */
export function unmetCondition(
  pet: Pet,
  condition: PetCondition,
): StatusConflictError | PreconditionFailedError | undefined {
  if ('id' in condition)
    return isSamePet(pet, condition) ? undefined : new PreconditionFailedError();
  return condition.includes(pet.status) ? undefined : new StatusConflictError(pet.status);
}
