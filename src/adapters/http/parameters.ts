import { PAGE_LIMIT } from '../../application/list-pets.js';
import type { PetQuery } from '../../application/animal-store.js';
import { InvalidParameterError, type Fault } from '../../domain/errors.js';
import { parseInt64 } from '../../domain/int64.js';
import { PET_STATUSES, isPetStatus } from '../../domain/pet-status.js';

/**
 * The query of listPets. Unknown parameters are ignored; a known one may stand once, and is taken as it is
 * or refused: nothing is clamped or converted.
 * @throws {InvalidParameterError} naming every parameter that is wrong
 */
export function readPetQuery(query: string): PetQuery {
  if (query === '') return {};
  const parameters = new URLSearchParams(`?${query}`);
  const faults: Fault[] = [];
  const once = (field: string): string | undefined => {
    const [value, second] = parameters.getAll(field);
    if (second !== undefined) faults.push({ field, message: 'must be given once' });
    return second === undefined ? value : undefined;
  };

  const limit = once('limit');
  if (limit !== undefined && !/^(?:[1-9][0-9]?|100)$/.test(limit)) {
    faults.push({
      field: 'limit',
      message: `must be an integer from ${PAGE_LIMIT.minimum} to ${PAGE_LIMIT.maximum}`,
    });
  }
  const status = once('status');
  if (status !== undefined && !isPetStatus(status)) {
    faults.push({ field: 'status', message: `must be one of ${PET_STATUSES.join(', ')}` });
  }
  const cursor = once('cursor');
  if (faults.length > 0) throw new InvalidParameterError(faults);
  return {
    limit: limit === undefined ? undefined : Number(limit),
    status: isPetStatus(status) ? status : undefined,
    cursor,
  };
}

/** The petId of a path, as sent. `undefined` when it is no int64 in canonical decimal: no animal has such an id. */
export function readPetId(sent: string): bigint | undefined {
  try {
    return parseInt64(decodeURIComponent(sent));
  } catch {
    return undefined; // percent-encoding that is none
  }
}
