import { InvalidParameterError, PetNotFoundError } from '../domain/errors.js';
import { isInt64 } from '../domain/int64.js';
import type { Pet } from '../domain/pet.js';
import type { Call } from './call.js';
import type { PetRepository } from './ports/pet-repository.js';

/**
 * The id that a caller gives, exactly: any bigint, int64 or not.
 * @throws {InvalidParameterError} it is a number that is not a safe integer
 */
export function petIdOf(id: bigint | number): bigint {
  if (typeof id !== 'bigint' && !Number.isSafeInteger(id)) {
    throw new InvalidParameterError([{ field: 'id', message: 'must be a bigint or a safe integer' }]);
  }
  return BigInt(id);
}

export const getPet =
  (pets: PetRepository) =>
  async (id: bigint | number, call: Call = {}): Promise<Pet> => {
    const petId = petIdOf(id);
    call.signal?.throwIfAborted();
    const pet = isInt64(petId) ? await pets.findById(petId, call) : undefined;
    if (pet === undefined) throw new PetNotFoundError(petId);
    return pet;
  };
