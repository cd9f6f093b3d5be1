import type { ObjectId } from 'mongodb';
import { toInt64 } from '../../domain/int64.js';
import {
  PET_RULES,
  isPetStatus,
  savedPet,
  type Pet,
  type PetStatus,
  type UnsavedPet,
} from '../../domain/pet.js';

/** An animal as it is written. What is read may have been written by another program, in any types. */
export interface PetDocument {
  /** The animal's id. */
  readonly _id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus;
  /** Tells whose insert it was, when the answer to an insert was lost. */
  readonly operation: ObjectId;
}

/** What makes an animal of a document; all else in it stays in the database. */
export const PET_FIELDS = { _id: 1, name: 1, categoryId: 1, status: 1 } as const;

export type FoundPet = { readonly [Field in keyof typeof PET_FIELDS]?: unknown };

export const toPetDocument = (
  id: bigint,
  { name, categoryId, status }: UnsavedPet,
  operation: ObjectId,
): PetDocument => ({ _id: id, name, categoryId, status, operation });

/** The animal in a document, whatever types its integers have; `undefined` when it holds no valid animal. */
export function toPet({ _id, name, categoryId, status }: FoundPet): Pet | undefined {
  const id = toInt64(_id);
  const category = toInt64(categoryId);
  if (id === undefined || category === undefined || !isPetStatus(status)) return undefined;
  if (typeof name !== 'string' || PET_RULES.name(name) !== undefined) return undefined;
  return savedPet(id, { name, categoryId: category, status });
}
