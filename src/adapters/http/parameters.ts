import { PAGE_LIMIT_RULE, isPageLimit } from '../../application/list-pets.js';
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

  const limit = readLimit(once('limit'));
  if (limit !== undefined && !isPageLimit(limit)) {
    faults.push({ field: 'limit', message: PAGE_LIMIT_RULE });
  }
  const status = once('status');
  if (status !== undefined && !isPetStatus(status)) {
    faults.push({ field: 'status', message: `must be one of ${PET_STATUSES.join(', ')}` });
  }
  const cursor = once('cursor');
  if (faults.length > 0) throw new InvalidParameterError(faults);
  return {
    limit,
    status: isPetStatus(status) ? status : undefined,
    cursor,
  };
}

/** An integer in plain decimal, or NaN; its bounds are the use case's. */
const readLimit = (sent: string | undefined): number | undefined =>
  sent === undefined ? undefined : /^[1-9][0-9]{0,8}$/.test(sent) ? Number(sent) : Number.NaN;

/** The petId of a path, as sent. `undefined` when it is no int64 in canonical decimal: no animal has such an id. */
export function readPetId(sent: string): bigint | undefined {
  try {
    return parseInt64(decodeURIComponent(sent));
  } catch {
    return undefined; // percent-encoding that is none
  }
}
