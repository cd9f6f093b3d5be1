import type { Pet } from '../../../domain/pet.js';

/** A Pet of the interface as JSON text, its int64s to the digit. Written out for speed: it is the hottest text there is. */
export const petJson = ({ id, name, categoryId, status }: Pet): string =>
  `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`;

/** Pets of the interface as JSON text. */
export const petsJson = (pets: readonly Pet[]): string => `[${pets.map(petJson).join(',')}]`;
