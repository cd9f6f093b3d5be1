/*
 * The rules of the driving port's calls, for its implementations and for adapters that check calls before it.
 */

import {
  InvalidParameterError,
  PetNotFoundError,
  faultsOf,
  requireValid,
  type Fault,
} from '../domain/errors.js';
import { isInt64, toInt64 } from '../domain/int64.js';
import { PET_RULES, petWithId, type Pet } from '../domain/pet.js';
import { PET_STATUSES, type PetStatus } from '../domain/pet-status.js';
import { storedTextFault } from '../domain/text.js';
import type { CallOptions, IdempotencyKey, PetQuery } from './animal-store.js';
import type { PetCondition } from './ports/pet-changes.js';

/** Bounds and default of `limit`. */
export const PAGE_LIMIT = { minimum: 1, maximum: 100, default: 20 } as const;

/**
 * The condition of a change that starts from `from`.
 * @throws {InvalidParameterError} `from` is unknown
 */
export function petCondition(from: PetStatus | Pet | undefined): PetCondition {
  if (from === undefined) return PET_STATUSES;
  if (typeof from === 'object' && from !== null && 'id' in from) return petWithId(from.id, from);
  requireValid({ from: PET_RULES.status(from) });
  return Object.freeze([from]);
}

/**
 * Checks a query.
 * @throws the reason of an aborted signal
 * @throws {InvalidParameterError} naming every fault
 */
export function requirePetQuery(query: PetQuery, { signal }: CallOptions = {}): void {
  signal?.throwIfAborted();
  const faults = petQueryFaults(query);
  if (faults.length > 0) throw new InvalidParameterError(faults);
}

/** Every rule that a query breaks. */
export function petQueryFaults(query: { readonly [Name in keyof PetQuery]: unknown }): Fault[] {
  const { limit = PAGE_LIMIT.default, status, after } = query;
  const { minimum, maximum } = PAGE_LIMIT;
  const isLimit = Number.isInteger(limit) && Number(limit) >= minimum && Number(limit) <= maximum;
  return faultsOf({
    limit: isLimit ? undefined : `must be an integer from ${minimum} to ${maximum}`,
    status: status === undefined ? undefined : PET_RULES.status(status),
    after: after === undefined || isInt64(after) ? undefined : 'must be a 64-bit integer',
  } satisfies Record<keyof PetQuery, string | undefined>);
}

/**
 * The id as an int64.
 * @throws the reason of an aborted signal
 * @throws {InvalidParameterError} it is a number that is not a safe integer
 * @throws {PetNotFoundError} it is outside int64, and so no animal's id
 */
export function requirePetId(id: bigint | number, { signal }: CallOptions): bigint {
  signal?.throwIfAborted();
  const petId = toInt64(id);
  if (petId !== undefined) return petId;
  if (typeof id === 'bigint') throw new PetNotFoundError(id);
  throw new InvalidParameterError([{ field: 'id', message: 'must be a bigint or a safe integer' }]);
}

/**
 * The scope and the key of a call.
 * @throws {InvalidParameterError} naming every fault
 */
export function requireIdempotencyKey(idempotencyKey: IdempotencyKey): IdempotencyKey {
  // Callers without a compiler may pass null.
  const { scope, key }: IdempotencyKey = idempotencyKey ?? {};
  requireValid({
    'idempotencyKey.scope': claimTextFault(scope),
    'idempotencyKey.key': claimTextFault(key),
  });
  return { scope, key };
}

/**
 * The rule that the scope or key of a claim breaks, or `undefined`. Checked before the store is called, so that no store
 * has to escape what it would change.
 */
export const claimTextFault = (text: unknown): string | undefined =>
  typeof text === 'string' && text !== '' && text.length <= 255 && !storedTextFault(text)
    ? undefined
    : 'must have 1 to 255 characters, without U+0000 and lone surrogates';
