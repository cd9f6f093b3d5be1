import { ObjectId } from 'mongodb';
import type { Claim } from '../../application/ports/pet-repository.js';
import { toPet, toPetDocument, type PetDocument } from './pet-document.js';
import { unreadable } from './retry.js';

/** A claim in the database. It decides which animal is created, and under which id. */
export interface ClaimDocument {
  /** Scope and key: see `claimId`. */
  readonly _id: string;
  readonly fingerprint: string;
  readonly keepUntil: Date;
  /** The animal as it is created. */
  readonly pet: PetDocument;
}

type ClaimName = Pick<Claim, 'scope' | 'key'>;

/** JSON text: different for every pair of scope and key. */
export const claimId = ({ scope, key }: ClaimName): string => JSON.stringify([scope, key]);

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
  if (
    typeof fingerprint !== 'string' ||
    !(keepUntil instanceof Date) ||
    !(pet?.operation instanceof ObjectId)
  ) {
    throw unreadable('claims', _id, 'a field is missing or has the wrong type');
  }
  const { id, ...fields } = toPet(pet, 'claims');
  return { _id, fingerprint, keepUntil, pet: toPetDocument(id, fields, pet.operation) };
}
