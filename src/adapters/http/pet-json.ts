import type { PetBody } from './schemas.js';

/** An animal as JSON text, exact to the digit. Written out for speed: no other text is made as often. */
export const petJson = ({ id, name, categoryId, status }: PetBody): string =>
  `{"id":${id},"name":${quoted(name)},"categoryId":${categoryId},"status":"${status}"}`;

/** Animals as a JSON array. */
export function petsJson(pets: readonly PetBody[]): string {
  let text = '[';
  for (const pet of pets) text += (text.length > 1 ? ',' : '') + petJson(pet);
  return `${text}]`;
}

const quoted = (text: string): string =>
  /[^ !#-[\]-\ud7ff\ue000-\uffff]/.test(text) ? JSON.stringify(text) : `"${text}"`;
