import type { Collection, Db } from 'mongodb';
import type { Claim } from '../../application/ports/pet-repository.js';
import { petFrom, type Pet, type UnsavedPet } from '../../domain/pet.js';
import { PET_STATUSES, type PetStatus } from '../../domain/pet-status.js';

/** A claim. Its key is the `claimId` of scope and key. */
export type StoredClaim = Omit<Claim, 'scope'>;

/**
 * An animal, and the claim that it was created for: a unique index allows one animal per claim. A removed animal
 * leaves its `_id` and its claim, so that a retry of its create does not store it again.
 */
export interface PetDocument extends Partial<UnsavedPet> {
  readonly _id: bigint;
  readonly claim?: StoredClaim | undefined;
}

export const petCollection = (database: Db): Collection<PetDocument> => database.collection('pets');

/**
 * Matches this status; for `undefined`, every status: a removed animal has none. Unlike `$exists`, `$in` uses the
 * index. Filters have `$eq` before every value: a bare object would be read as operators.
 */
export const statusFilter = (status: PetStatus | undefined) =>
  status === undefined ? { $in: [...PET_STATUSES] } : { $eq: status };

/** Matches the animal with this id, unless it was removed or has another status. */
export const filterOf = (id: bigint, status?: PetStatus) => ({
  _id: { $eq: id },
  status: statusFilter(status),
});

/** The update that removes an animal. */
export const REMOVAL = { $unset: { name: 1, categoryId: 1, status: 1 } } as const;

const ABSENT = { $exists: false };

/** The filter for what is left of a removed animal without a claim. */
export const LEFTOVER = { name: ABSENT, status: ABSENT, claim: ABSENT };

/** @throws {InvalidPetError} another program wrote the document */
export const toPet = (document: PetDocument): Pet => petFrom({ ...document, id: document._id });
