import { ObjectId } from 'mongodb';
import { UnavailableError } from '../../domain/errors.js';
import { toPet, toPetDocument, type FoundPet, type PetDocument } from './pet-document.js';

/** A claim as it is written: it decides which animal is created, under which id. */
export interface ClaimDocument {
  /** Scope and token. */
  readonly _id: string;
  readonly fingerprint: string;
  readonly keepUntil: Date;
  /** The animal as it is created, and the operation that it is known by. */
  readonly pet: PetDocument;
}

export interface FoundClaim {
  readonly _id: string;
  readonly fingerprint?: unknown;
  readonly keepUntil?: unknown;
  readonly pet?: FoundPet & { readonly operation?: unknown };
}

interface ClaimName {
  readonly scope: string;
  readonly key: string;
}

/** JSON text: no two pairs have the same, and lone surrogates stay apart. */
export const claimId = ({ scope, key }: ClaimName): string => JSON.stringify([scope, key]);

/** @throws {UnavailableError} another program wrote the claim. */
export function readClaimId(id: string): ClaimName {
  const [scope, key, ...more] = parts(id);
  if (typeof scope === 'string' && typeof key === 'string' && more.length === 0) return { scope, key };
  throw unreadable('the _id');
}

/** @throws {UnavailableError} another program has changed the claim: what was created cannot be told. */
export function readClaim({ _id, fingerprint, keepUntil, pet: found }: FoundClaim): ClaimDocument {
  const pet = found && toPet(found);
  const operation = found?.operation;
  if (typeof fingerprint === 'string' && keepUntil instanceof Date && pet && operation instanceof ObjectId) {
    return { _id, fingerprint, keepUntil, pet: toPetDocument(pet.id, pet, operation) };
  }
  throw unreadable('the fields');
}

function parts(id: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(id);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** A claim is not named: its `_id` is what a client sent. */
const unreadable = (what: string): UnavailableError =>
  new UnavailableError('reading a claim', {
    cause: new Error(`${what} of a document in claims are missing, of wrong types or not valid`),
  });
