import { UnavailableError } from '../../domain/errors.js';
import { petWithId, type Pet, type UnsavedPet } from '../../domain/pet.js';
import { isPetStatus } from '../../domain/pet-status.js';

export const PET_COLUMNS = 'id, name, category_id, status';

export type PetRow = readonly [id: bigint, name: string, categoryId: bigint, status: string];

export const FIND_PET = `SELECT ${PET_COLUMNS} FROM pets WHERE id = ?`;

export const INSERT_PET = `INSERT INTO pets (${PET_COLUMNS}) VALUES (?, ?, ?, ?)`;

/** For a null id, SQLite assigns one. */
export const toRow = (id: bigint | null, { name, categoryId, status }: UnsavedPet) =>
  [id, name, categoryId, status] as const;

/** @throws {UnavailableError} the file is damaged: the row has an unknown status */
export function toPet([id, name, categoryId, status]: PetRow): Pet {
  if (isPetStatus(status)) return petWithId(id, { name, categoryId, status });
  const cause = new Error(`the animal ${id} has the status '${status}'`);
  throw new UnavailableError('reading an animal', { cause });
}
