import { ObjectId } from 'mongodb';
import type { Claim } from '../../application/ports/pet-repository.js';
import { toInt64 } from '../../domain/int64.js';
import { unreadable } from './mongo-errors.js';
import type { PetDocument } from './pet-document.js';

/** A claim in the database, with the id and the operation by which its animal is stored. */
export interface ClaimDocument {
  /** Scope and key: see `claimId`. */
  readonly _id: string;
  readonly fingerprint: string;
  readonly keepUntil: Date;
  readonly pet: Pick<PetDocument, '_id' | 'operation'>;
}

type ClaimName = Pick<Claim, 'scope' | 'key'>;

/** The reverse of `claimId`. */
export function claimName(id: string): ClaimName {
  try {
    const [scope, key, ...rest] = JSON.parse(id) as unknown[];
    if (typeof scope === 'string' && typeof key === 'string' && rest.length === 0) return { scope, key };
  } catch {
    // Not JSON.
  }
  throw unreadable('claims', id, '_id must be the JSON text of scope and key');
}

/** @throws {UnavailableError} another program wrote the claim. */
export function toClaim({ _id, fingerprint, keepUntil, pet }: ClaimDocument): ClaimDocument {
  const [petId, operation] = [toInt64(pet?._id), pet?.operation];
  if (
    typeof fingerprint === 'string' &&
    keepUntil instanceof Date &&
    petId !== undefined &&
    operation instanceof ObjectId
  )
    return { _id, fingerprint, keepUntil, pet: { _id: petId, operation } };
  throw unreadable('claims', _id, 'a field is missing or has the wrong type');
}
