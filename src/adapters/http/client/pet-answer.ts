import { petFrom, type Pet } from '../../../domain/pet.js';
import { parse } from '../../../exact-json.js';
import type { Answer } from './answer.js';
import { UnexpectedAnswerError } from './service-error.js';

/** The Pet that the answer holds. @throws {UnexpectedAnswerError} it holds none */
export const readPet = (answer: Answer): Pet => toPet(readJson(answer), answer);

/** The Pets that the answer holds. @throws {UnexpectedAnswerError} it holds something else */
export function readPets(answer: Answer): readonly Pet[] {
  const pets = readJson(answer);
  if (!Array.isArray(pets)) throw new UnexpectedAnswerError('its body is not an array of animals', answer);
  return pets.map((pet) => toPet(pet, answer));
}

function readJson(answer: Answer): unknown {
  try {
    return parse(answer.body);
  } catch (cause) {
    throw new UnexpectedAnswerError('its body is not JSON', { ...answer, cause });
  }
}

/** By the domain's own rules. */
function toPet(value: unknown, answer: Answer): Pet {
  try {
    return petFrom(Object(value));
  } catch (cause) {
    throw new UnexpectedAnswerError('an animal in it is not valid', { ...answer, cause });
  }
}
