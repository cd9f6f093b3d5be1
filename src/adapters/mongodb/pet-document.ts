import type { Collection, Db } from 'mongodb';
import type { Claim } from '../../application/ports/pet-repository.js';
import { petFrom, type Pet, type UnsavedPet } from '../../domain/pet.js';
import { PET_STATUSES } from '../../domain/pet-status.js';

/** A claim. Its key is the `claimId` of scope and key. */
export type StoredClaim = Omit<Claim, 'scope'>;

/**
 * An animal, and the claim that it was created for: a unique index allows one animal per claim. A removed animal
 * leaves its `_id` and its claim, so that a retry of its create does not store it again.
 */
export interface PetDocument extends UnsavedPet {
  readonly _id: bigint;
  readonly claim?: StoredClaim | undefined;
}

export const petCollection = (database: Db): Collection<PetDocument> => database.collection('pets');

/** The status of an animal that was not removed. With `$in` the server uses the index. */
export const PRESENT = { $in: [...PET_STATUSES] };

/** @throws {InvalidPetError} another program wrote the document */
export const toPet = (document: PetDocument): Pet => petFrom({ ...document, id: document._id });
