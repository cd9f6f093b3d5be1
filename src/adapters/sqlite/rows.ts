import type { PetClaim } from '../../application/ports/catalogue-transfer.js';
import { savedPet, type Pet, type PetStatus, type UnsavedPet } from '../../domain/pet.js';

const insertInto = (table: string, columns: string): string =>
  `INSERT INTO ${table} (${columns}) VALUES (${columns.replaceAll(/\w+/g, '?')})`;

// Animals. A new field belongs in the next five declarations, and in a new step of MIGRATIONS.

export const PET_COLUMNS = 'id, name, category_id, status';

/** SQLite assigns the id where it is null. */
export type PetRow<Id = bigint> = readonly [id: Id, name: string, categoryId: bigint, status: PetStatus];

export function petRow<Id>(id: Id, { name, categoryId, status }: UnsavedPet): PetRow<Id> {
  return [id, name, categoryId, status];
}

// `satisfies`: it does not compile while a field is missing, even an optional one.
export const toPet = ([id, name, categoryId, status]: PetRow): Pet =>
  savedPet(id, { name, categoryId, status } satisfies Record<keyof UnsavedPet, unknown>);

export const INSERT_PET = insertInto('pets', PET_COLUMNS);

export const CLAIM_COLUMNS = 'scope, key, fingerprint, pet_id, keep_until';

export type ClaimRow = readonly [string, string, string, bigint, bigint];

export function claimRow({ scope, key, fingerprint, petId, keepUntil }: PetClaim): ClaimRow {
  return [scope, key, fingerprint, petId, BigInt(keepUntil.getTime())];
}

export function toClaim([scope, key, fingerprint, petId, keepUntil]: ClaimRow): PetClaim {
  return { scope, key, fingerprint, petId, keepUntil: new Date(Number(keepUntil)) };
}

/** Replaces the claim with the same scope and key. */
export const PUT_CLAIM = insertInto('claims', CLAIM_COLUMNS).replace('INSERT', 'INSERT OR REPLACE');
