import type { Document, ObjectId } from 'mongodb';
import { InvalidPetError } from '../../domain/errors.js';
import { petFrom, savedPet, type Pet, type UnsavedPet } from '../../domain/pet.js';
import { PET_STATUSES } from '../../domain/pet-status.js';
import { unreadable } from './mongo-errors.js';

/** How the database stores each field of an animal. A field of `Pet` that is missing here does not compile. */
const FIELDS = {
  name: { bsonType: 'string', minLength: 1 },
  categoryId: { bsonType: 'long' },
  status: { enum: [...PET_STATUSES] },
} as const satisfies Readonly<Record<keyof UnsavedPet, Document>>;

/** The schema by which the server validates animals. Fields that documents of earlier versions lack are not required. */
export const PET_SCHEMA = {
  bsonType: 'object',
  required: ['_id', 'name', 'categoryId', 'status'],
  properties: { _id: { bsonType: 'long' }, ...FIELDS },
} as const;

/**
 * What is left of a removed animal, so that the retry of an interrupted create does not store the animal again. The
 * server deletes it an hour after `removedUntil`.
 */
const REMOVED_PET_SCHEMA = {
  bsonType: 'object',
  required: ['_id', 'removedUntil'],
  properties: { _id: { bsonType: 'long' }, removedUntil: { bsonType: 'date' } },
} as const;

/** The schema of the collection `pets`. */
export const PETS_SCHEMA = { anyOf: [PET_SCHEMA, REMOVED_PET_SCHEMA] } as const;

/** The fields that are read: whatever else a document holds stays in the database. */
export const PET_PROJECTION: Readonly<Record<string, 1>> = Object.fromEntries(
  Object.keys(PET_SCHEMA.properties).map((field) => [field, 1]),
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
  /** Set once the animal was removed: then the document has no fields of an animal. */
  readonly removedUntil?: Date;
}

/** The filter for animals that were not removed. */
export const PRESENT = { removedUntil: { $exists: false } } as const;

/** The document of an animal. */
export function toPetDocument(id: bigint, pet: UnsavedPet, operation: ObjectId): PetDocument {
  const { id: _id, ...fields } = savedPet(id, pet);
  return { _id, ...fields, operation };
}

/**
 * The animal in a document. Integers may be int32, double or int64.
 * @throws {UnavailableError} the document is not a valid animal: it was written before the validator or past it.
 */
export function toPet({ _id, ...fields }: Omit<PetDocument, 'operation'>): Pet {
  try {
    return petFrom({ ...fields, id: _id });
  } catch (error) {
    if (!(error instanceof InvalidPetError)) throw error;
    throw unreadable('pets', _id, error.message);
  }
}
