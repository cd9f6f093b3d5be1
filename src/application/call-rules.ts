/* The rules for arguments of `AnimalStore`, checked by the use cases and by the HTTP client. */

import { InvalidParameterError, PetNotFoundError, requireNoFaults } from '../domain/errors.js';
import { INT64_RULE, isInt64, toInt64 } from '../domain/int64.js';
import { petStatusFault, type PetStatus } from '../domain/pet-status.js';
import { textFault } from '../domain/text.js';
import type { IdempotencyKey, PetQuery } from './animal-store.js';

/** Bounds and default of `limit`. */
export const PAGE_LIMIT = { minimum: 1, maximum: 100, default: 20 } as const;

/**
 * The checked query, with the default limit filled in. Values may have any type: adapters pass on what they read.
 * @throws {InvalidParameterError} naming every fault
 */
export function requirePetQuery(query: PetQuery): PetQuery & { readonly limit: number } {
  const { limit = PAGE_LIMIT.default, status, after } = query;
  const { minimum, maximum } = PAGE_LIMIT;
  const isInRange = Number.isInteger(limit) && limit >= minimum && limit <= maximum;
  requireNoFaults({
    limit: isInRange ? undefined : `must be an integer from ${minimum} to ${maximum}`,
    status: status === undefined ? undefined : petStatusFault(status),
    after: after === undefined || isInt64(after) ? undefined : INT64_RULE,
  });
  return { limit, status, after };
}

/**
 * The checked status that an animal must have.
 * @throws {InvalidParameterError} `from` is neither omitted nor a status
 */
export function requireValidFrom(from: PetStatus | undefined): PetStatus | undefined {
  if (from !== undefined) requireNoFaults({ from: petStatusFault(from) });
  return from;
}

/**
 * The id as an int64.
 * @throws {InvalidParameterError} it is a number that is not a safe integer
 * @throws {PetNotFoundError} it is outside int64, and so no animal's id
 */
export function requirePetId(id: bigint | number): bigint {
  const petId = toInt64(id);
  if (petId !== undefined) return petId;
  if (typeof id === 'bigint') throw new PetNotFoundError(id);
  throw new InvalidParameterError([{ field: 'id', message: 'must be a bigint or a safe integer' }]);
}

/**
 * The scope and the key of a call.
 * @throws {InvalidParameterError} naming every fault
 */
export function requireIdempotencyKey(given: IdempotencyKey): IdempotencyKey {
  const { scope, key } = Object(given) as IdempotencyKey;
  requireNoFaults({ 'idempotencyKey.scope': keyFault(scope), 'idempotencyKey.key': keyFault(key) });
  return { scope, key };
}

/** The rule that a scope or key breaks, or `undefined`. */
const keyFault = (text: unknown): string | undefined =>
  typeof text === 'string' && text !== '' && text.length <= 255 && !textFault(text)
    ? undefined
    : 'must have 1 to 255 characters, without U+0000 and lone surrogates';
