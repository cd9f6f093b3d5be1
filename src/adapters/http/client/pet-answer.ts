import { categoryIdFault, nameFault, savedPet, statusFault, type Pet } from '../../../domain/pet.js';
import { isInt64 } from '../../../domain/int64.js';
import { isPetStatus } from '../../../domain/pet-status.js';
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

/** By the domain's own rules: what it promises of an animal holds wherever the animal comes from. */
function toPet(value: unknown, answer: Answer): Pet {
  const { id, name, categoryId, status }: Partial<Record<keyof Pet, unknown>> = Object(value);
  if (!isInt64(id)) throw noPet('id is not an int64', answer);
  if (typeof name !== 'string' || nameFault(name)) throw noPet(`name ${nameFault(name)}`, answer);
  if (!isInt64(categoryId)) throw noPet(`categoryId ${categoryIdFault(categoryId)}`, answer);
  if (!isPetStatus(status)) throw noPet(`status ${statusFault(status) ?? 'is missing'}`, answer);
  return savedPet(id, { name, categoryId, status });
}

const noPet = (fault: string, answer: Answer): UnexpectedAnswerError =>
  new UnexpectedAnswerError(`an animal in it is none: its ${fault}`, answer);
