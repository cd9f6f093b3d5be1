import type { PetStatus } from './pet-status.js';

/** The text of each error. Errors with details end it by themselves. */
const TEXTS = {
  invalid_pet: 'The animal is not valid',
  invalid_parameter: 'The call is not valid',
  pet_not_found: 'No animal has this identifier.',
  idempotency_conflict:
    'An earlier request with the same idempotency key is not decided yet: repeat it shortly.',
  idempotency_key_reused:
    'The idempotency key was used before, for another animal: use a new one for each animal.',
  status_conflict: 'The animal has another status, so nothing was changed.',
  service_unavailable: 'The store is not available',
} as const;

/** What went wrong, for programs: stable, one for each class of error. Changing a code breaks programs. */
export type AnimalStoreErrorCode = keyof typeof TEXTS;

/** What is wrong with one field of an animal, or with one parameter. */
export interface Fault {
  /** The name of the field or parameter, as the caller gave it: `categoryId`. Empty for the whole. */
  readonly field: string;
  /** The rule that is broken, as the rest of a sentence that begins with the field: `must not be blank`. */
  readonly message: string;
}

/** Base of every error to expect from the animal store. Any other, except an abort's reason, is a fault of the program. */
export abstract class AnimalStoreError<
  Code extends AnimalStoreErrorCode = AnimalStoreErrorCode,
> extends Error {
  /** What went wrong. A `switch` on it narrows `AnyAnimalStoreError` to the class. */
  readonly code: Code;

  protected constructor(code: Code, message: string = TEXTS[code], options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** For JSON: name, code, message and details. Not the cause or the stack, which may reveal internals. */
  toJSON(): object {
    return Object.assign({ message: this.message }, this);
  }
}

/** The animal breaks a rule. Nothing was stored. */
export class InvalidPetError extends AnimalStoreError<'invalid_pet'> {
  override readonly name = 'InvalidPetError';
  /** Every fault. Empty if the error came from another process, which gave only the message. */
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[], options?: ErrorOptions) {
    super('invalid_pet', withFaults('invalid_pet', faults), options);
    this.faults = faults;
  }
}

/** A parameter of a call is not valid. */
export class InvalidParameterError extends AnimalStoreError<'invalid_parameter'> {
  override readonly name = 'InvalidParameterError';
  /** Every fault. Empty if the error came from another process, which gave only the message. */
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[], options?: ErrorOptions) {
    super('invalid_parameter', withFaults('invalid_parameter', faults), options);
    this.faults = faults;
  }
}

/** No animal has this identifier. */
export class PetNotFoundError extends AnimalStoreError<'pet_not_found'> {
  override readonly name = 'PetNotFoundError';
  /** The requested id, as text. */
  readonly petId: string;

  constructor(petId: bigint | string, options?: ErrorOptions) {
    super('pet_not_found', TEXTS.pet_not_found, options);
    this.petId = String(petId);
  }
}

/** An earlier create with the same idempotency key is still in progress: retry after `retryAfter` seconds. */
export class IdempotencyConflictError extends AnimalStoreError<'idempotency_conflict'> {
  override readonly name = 'IdempotencyConflictError';
  /** Seconds after which to retry. Default: 1. */
  readonly retryAfter: number;

  constructor({ retryAfter = 1, ...options }: RetryOptions = {}) {
    super('idempotency_conflict', TEXTS.idempotency_conflict, options);
    this.retryAfter = retryAfter;
  }
}

/** The idempotency key was used before, for another animal. Nothing was stored. */
export class IdempotencyKeyReusedError extends AnimalStoreError<'idempotency_key_reused'> {
  override readonly name = 'IdempotencyKeyReusedError';

  constructor(options?: ErrorOptions) {
    super('idempotency_key_reused', TEXTS.idempotency_key_reused, options);
  }
}

/** The animal does not have the status that the call requires. Nothing was changed. */
export class StatusConflictError extends AnimalStoreError<'status_conflict'> {
  override readonly name = 'StatusConflictError';
  /** The animal's status. `undefined` if the error came from another process, which gave only the message. */
  readonly status: PetStatus | undefined;

  constructor(status?: PetStatus, options?: ErrorOptions) {
    super('status_conflict', status && `The animal is ${status}, so nothing was changed.`, options);
    this.status = status;
  }
}

/**
 * A store or service cannot be reached or cannot do its work now. A write may or may not have happened. Retry after
 * `retryAfter` seconds. The cause is for logs only: it may reveal internals.
 */
export class UnavailableError extends AnimalStoreError<'service_unavailable'> {
  override readonly name = 'UnavailableError';
  /** Seconds after which to retry. Default: 1. */
  readonly retryAfter: number;

  /** @param doing what failed, as in "reading an animal"; logged, not shown to clients */
  constructor(doing: string, { retryAfter = 1, ...options }: RetryOptions = {}) {
    super('service_unavailable', `The store is not available (${doing}).`, options);
    this.retryAfter = retryAfter;
  }
}

type RetryOptions = ErrorOptions & { readonly retryAfter?: number | undefined };

/** The errors by code: a `switch` on `code` narrows to the class. */
export type AnyAnimalStoreError =
  | InvalidPetError
  | InvalidParameterError
  | PetNotFoundError
  | IdempotencyConflictError
  | IdempotencyKeyReusedError
  | StatusConflictError
  | UnavailableError;

/** Whether `value` is an error of the animal store, by its code: it may come from another copy of this package. */
export function isAnimalStoreError(value: unknown): value is AnyAnimalStoreError {
  const code: unknown = Object(value).code;
  return typeof code === 'string' && Object.hasOwn(TEXTS, code);
}

/** @throws {InvalidParameterError} naming every parameter with a fault: the rule that it breaks, else `undefined`. */
export function requireValid(faultsByName: Readonly<Record<string, string | undefined>>): void {
  const faults = Object.entries(faultsByName).flatMap(([field, message]) =>
    message === undefined ? [] : [{ field, message }],
  );
  if (faults.length > 0) throw new InvalidParameterError(faults);
}

function withFaults(code: AnimalStoreErrorCode, faults: readonly Fault[]): string {
  const rules = faults.map(({ field, message }) => `${field} ${message}`.trim());
  return `${TEXTS[code]}: ${rules.join('; ')}.`;
}
