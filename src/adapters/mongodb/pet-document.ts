import { ObjectId } from 'mongodb';
import { InvalidPetError } from '../../domain/errors.js';
import { toInt64 } from '../../domain/int64.js';
import { PET_FIELDS, petFrom, petWithId, type Pet, type UnsavedPet } from '../../domain/pet.js';
import { PET_STATUSES } from '../../domain/pet-status.js';
import { unreadable } from './mongo-errors.js';

/** The fields that are read: whatever else a document holds stays in the database. */
export const PET_PROJECTION: Readonly<Record<string, 1>> = Object.fromEntries(
  ['_id', ...PET_FIELDS].map((field) => [field, 1]),
);

/** An animal in the database. */
export interface PetDocument extends UnsavedPet {
  /** The animal's id. */
  readonly _id: bigint;
  /** Identifies the call that added the animal, so that a call whose reply was lost recognises its own insert. */
  readonly operation: ObjectId;
  /** Identifies the last change of the animal in the same way. */
  readonly change?: ObjectId;
  /** Until when a claim of the animal is valid, if it was added with one. */
  readonly claimedUntil?: Date;
  /**
   * Set once the animal was removed. The rest of the document, which has no fields of an animal, keeps the retry of an
   * interrupted create from storing the animal again. The server deletes it an hour after this time.
   */
  readonly removedUntil?: Date;
}

/** The filter for animals that were not removed. It uses the index on `status`, which passes over removed ones. */
export const PRESENT = { status: { $in: PET_STATUSES } } as const;

/** The document of an animal. */
export function toPetDocument(id: bigint, pet: UnsavedPet, operation: ObjectId): PetDocument {
  const { id: _id, ...fields } = petWithId(id, pet);
  return { _id, ...fields, operation };
}

/**
 * The animal in a document. Integers may be int32, double or int64.
 * @throws {UnavailableError} the document is not a valid animal: another program wrote it.
 */
export function toPet({ _id, ...fields }: Omit<PetDocument, 'operation'>): Pet {
  try {
    return petFrom({ ...fields, id: _id });
  } catch (error) {
    if (!(error instanceof InvalidPetError)) throw error;
    throw unreadable('pets', _id, error.message);
  }
}

/** A claim in the database, with the id and the operation by which its animal is stored. */
export interface ClaimDocument {
  /** Scope and key: see `claimId`. */
  readonly _id: string;
  readonly fingerprint: string;
  readonly keepUntil: Date;
  readonly pet: Pick<PetDocument, '_id' | 'operation'>;
}

/**
 * The claim in a document, with the animal's id as a bigint.
 * @throws {UnavailableError} a field is missing or has the wrong type: another program wrote the document.
 */
export function readableClaim({ _id, fingerprint, keepUntil, pet }: ClaimDocument): ClaimDocument {
  const petId = toInt64(pet?._id);
  const operation = pet?.operation;
  const isReadable =
    typeof fingerprint === 'string' &&
    keepUntil instanceof Date &&
    petId !== undefined &&
    operation instanceof ObjectId;
  if (!isReadable) throw unreadable('claims', _id, 'a field is missing or has the wrong type');
  return {
    _id,
    fingerprint,
    keepUntil,
    pet: { _id: petId, operation },
  };
}
