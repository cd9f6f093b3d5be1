import type { PetBody } from './schemas.js';

/** An animal as JSON text, exact to the digit. Written out for speed: no other text is made as often. */
export const petJson = ({ id, name, categoryId, status }: PetBody): string =>
  `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`;

/** Animals as a JSON array. */
export const petsJson = (pets: readonly PetBody[]): string => `[${pets.map(petJson).join(',')}]`;
