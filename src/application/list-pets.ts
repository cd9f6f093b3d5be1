import { InvalidParameterError, type Fault } from '../domain/errors.js';
import { statusFault } from '../domain/pet.js';
import type { PetPage, PetQuery } from './animal-store.js';
import type { Call } from './call.js';
import { readCursor, writeCursor } from './page-cursor.js';
import type { PetRepository } from './ports/pet-repository.js';

/** How many animals a page holds at most, and when the caller does not say. */
export const PAGE_LIMIT = { minimum: 1, maximum: 100, default: 20 } as const;

/** The rule that a limit keeps, as a message says it. */
export const PAGE_LIMIT_RULE = `must be an integer from ${PAGE_LIMIT.minimum} to ${PAGE_LIMIT.maximum}`;

export const isPageLimit = (limit: unknown): limit is number =>
  Number.isInteger(limit) && Number(limit) >= PAGE_LIMIT.minimum && Number(limit) <= PAGE_LIMIT.maximum;

/**
 * Holds a query, but for its cursor, to what the port declares.
 * @throws {InvalidParameterError} naming what is outside of it
 */
export function requireLimitAndStatus({ limit, status }: PetQuery): void {
  const faults: Fault[] = [];
  const note = (field: string, message: string | undefined): void => {
    if (message !== undefined) faults.push({ field, message });
  };
  note('limit', limit === undefined || isPageLimit(limit) ? undefined : PAGE_LIMIT_RULE);
  note('status', statusFault(status));
  if (faults.length > 0) throw new InvalidParameterError(faults);
}

export const listPets =
  (pets: PetRepository) =>
  async (
    { limit = PAGE_LIMIT.default, status, cursor }: PetQuery = {},
    call: Call = {},
  ): Promise<PetPage> => {
    requireLimitAndStatus({ limit, status });
    const after = cursor === undefined ? undefined : readCursor(cursor, status);
    call.signal?.throwIfAborted();

    // One more than asked for: whether it exists tells whether this page is the last.
    const found = await pets.list({ after, limit: limit + 1, status }, call);
    const last = found.length > limit ? found[limit - 1] : undefined;
    return last === undefined
      ? { pets: found }
      : { pets: found.slice(0, limit), next: writeCursor(last.id, status) };
  };
