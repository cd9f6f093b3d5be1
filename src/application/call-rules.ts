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

/** The name of every option. */
export type OptionNames<Options> = { readonly [Name in keyof Options]-?: true };

/**
 * Checks options by their names, for callers without a compiler: a misspelled option would silently count for nothing.
 * An `AbortController` may stand for the options, because it has a `signal`; the signal itself may not.
 * @throws {TypeError} they are no object of options, or one of them does not exist
 */
export function requireOptions<Options extends object>(
  options: Options,
  known: OptionNames<Options>,
): void {
  const names = Object.keys(known);
  const kind = Object.prototype.toString.call(options);
  if (kind !== '[object Object]' && !names.some((name) => name in Object(options)))
    throw new TypeError(`Options must be an object with ${names.join(', ')}`);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined)
    throw new TypeError(`There is no option ${unknown} here, only ${names.join(', ')}`);
}

/** The largest integer of an option. Longer timers fire at once. */
export const LARGEST_INTEGER = 2 ** 31 - 1;

/**
 * The value of an option.
 * @throws {TypeError} it is not an integer from `minimum` to `LARGEST_INTEGER`
 */
export function requireInteger(name: string, value: number, minimum: number): number {
  if (Number.isInteger(value) && value >= minimum && value <= LARGEST_INTEGER) return value;
  throw new TypeError(`${name} must be an integer from ${minimum} to ${LARGEST_INTEGER}`);
}

type Names = readonly string[];
const CALL_OPTIONS: Names = ['signal'];
export const CREATE_OPTIONS: Names = ['signal', 'idempotencyKey'];
export const CHANGE_OPTIONS: Names = ['signal', 'from'];

/**
 * Checks the options of a call before anything else of it.
 * @throws the reason of an aborted signal
 * @throws {TypeError} they are no object, or not empty and without a known name
 */
export function beginCall(options: CallOptions, known: Names): void {
  options.signal?.throwIfAborted();
  requireSomeOf(known, options);
}

/**
 * As TypeScript checks weak types: one known name is enough, because any object with a signal may be passed on. But a
 * name that differs from a known one in case, hyphens or underscores only is meant as that one.
 */
function requireSomeOf(known: Names, options: object): void {
  for (const name of Object.keys(Object(options))) {
    if (known.includes(name)) continue; // almost always
    const meant = known.find((other) => lettersOf(other) === lettersOf(name));
    if (meant !== undefined) throw new TypeError(`There is no option ${name} here, but ${meant}`);
  }
  if (known.some((name) => name in Object(options))) return;
  const isEmpty = typeof options === 'object' && Object.keys(options).length === 0;
  const isPlain = Object.prototype.toString.call(options) === '[object Object]';
  if (!isEmpty || !isPlain)
    throw new TypeError(`Options must be an object with ${known.join(', ')}, or empty`);
}

const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '');

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
 * @throws {TypeError} the options or the query are of no known member
 * @throws {InvalidParameterError} naming every fault, also `cursor`
 */
export function requirePetQuery(query: PetQuery, options: CallOptions = {}): void {
  beginCall(options, CALL_OPTIONS);
  const hasCursor = 'cursor' in Object(query);
  if (!hasCursor) requireSomeOf(['limit', 'status', 'after'], query);
  const faults = petQueryFaults(query);
  if (hasCursor) faults.push(CURSOR_REMOVED);
  if (faults.length > 0) throw new InvalidParameterError(faults);
}

/** A program of an older version must not begin again at each page without noticing. */
export const CURSOR_REMOVED: Fault = {
  field: 'cursor',
  message: 'was removed: use after, with the last id of your page',
};

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
 * @throws {TypeError} no option is known
 * @throws {InvalidParameterError} it is a number that is not a safe integer
 * @throws {PetNotFoundError} it is outside int64, and so no animal's id
 */
export function requirePetId(
  id: bigint | number,
  options: CallOptions,
  known = CALL_OPTIONS,
): bigint {
  beginCall(options, known);
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
