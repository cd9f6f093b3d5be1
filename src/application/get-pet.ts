import { InvalidParameterError, PetNotFoundError } from '../domain/errors.js';
import { isInt64 } from '../domain/int64.js';
import type { Pet } from '../domain/pet.js';
import type { Call } from './call.js';
import type { PetRepository } from './ports/pet-repository.js';

export const getPet =
  (pets: PetRepository) =>
  async (id: bigint | number, call: Call = {}): Promise<Pet> => {
    if (typeof id !== 'bigint' && !Number.isSafeInteger(id)) {
      throw new InvalidParameterError([{ field: 'id', message: 'must be a bigint or a safe integer' }]);
    }
    const petId = BigInt(id);
    call.signal?.throwIfAborted();
    const pet = isInt64(petId) ? await pets.findById(petId, call) : undefined;
    if (pet === undefined) throw new PetNotFoundError(petId);
    return pet;
  };
