import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import { IdempotencyConflictError, UnavailableError } from '../../../src/domain/errors.js';
import type { StoreFault } from './situation.js';

/** A store of animals that is not well. `onCall` hears of its uses. */
export function ailingPets(fault: StoreFault, onCall: () => void): PetRepository {
  const fails = async (): Promise<never> => {
    onCall();
    if (fault === 'away') throw new UnavailableError('a secret of the inside', { retryAfter: 7 });
    if (fault === 'undecided') throw new IdempotencyConflictError({ retryAfter: 3 });
    if (fault === 'faulty') throw new TypeError('a secret of the inside');
    return new Promise(() => {});
  };
  return {
    capabilities: { durable: false, shared: false },
    add: fails,
    findById: fails,
    list: fails,
    check: fault === 'occupied' ? async () => {} : fails,
    close: async () => {},
  };
}
