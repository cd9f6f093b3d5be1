import type { PetStatus } from './pet-status.js';

const CODES = [
  'invalid_pet',
  'invalid_parameter',
  'pet_not_found',
  'idempotency_conflict',
  'idempotency_key_reused',
  'status_conflict',
  'service_unavailable',
] as const;

/** What went wrong, for programs: one for each class of error. Stable. */
export type AnimalStoreErrorCode = (typeof CODES)[number];

/** What is wrong with one field of an animal, or with one parameter. */
export interface Fault {
  /**
   * The name of the field or parameter, such as `categoryId`. Empty if the fault is not in one field.
   */
  readonly field: string;
  /** The rule that is broken, as the rest of a sentence that begins with the field: `must not be blank`. */
  readonly message: string;
}

/**
 * Base of every error that an animal store or a driven port may reject with. A `switch` over the `code` of
 * `AnyAnimalStoreError` is complete.
 */
export abstract class AnimalStoreError<
  Code extends AnimalStoreErrorCode = AnimalStoreErrorCode,
> extends Error {
  /** What went wrong. */
  readonly code: Code;

  protected constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** For JSON: name, code, message and details. Cause and stack may reveal internals; they are not enumerable. */
  toJSON(): object {
    return Object.assign({ message: this.message }, this);
  }
}

/** The animal breaks a rule. Nothing was stored. */
export class InvalidPetError extends AnimalStoreError<'invalid_pet'> {
  override readonly name = 'InvalidPetError';
  /** Every fault. Empty if a remote service has sent only the message. */
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[], options?: ErrorOptions) {
    super('invalid_pet', `The animal is not valid: ${describe(faults)}.`, options);
    this.faults = faults;
  }
}

/** A parameter of a call is not valid. */
export class InvalidParameterError extends AnimalStoreError<'invalid_parameter'> {
  override readonly name = 'InvalidParameterError';
  /** Every fault. Empty if a remote service has sent only the message. */
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[], options?: ErrorOptions) {
    super('invalid_parameter', `The call is not valid: ${describe(faults)}.`, options);
    this.faults = faults;
  }
}

/** No animal has this identifier. */
export class PetNotFoundError extends AnimalStoreError<'pet_not_found'> {
  override readonly name = 'PetNotFoundError';
  /** The requested id, as text. */
  readonly petId: string;

  constructor(petId: bigint | string, options?: ErrorOptions) {
    super('pet_not_found', 'No animal has this identifier.', options);
    this.petId = String(petId);
  }
}

type RetryOptions = ErrorOptions & { readonly retryAfter?: number | undefined };

/** An earlier create with the same idempotency key is still in progress. */
export class IdempotencyConflictError extends AnimalStoreError<'idempotency_conflict'> {
  override readonly name = 'IdempotencyConflictError';
  /** Seconds after which to retry. Default: 1. */
  readonly retryAfter: number;

  constructor({ retryAfter = 1, ...options }: RetryOptions = {}) {
    super(
      'idempotency_conflict',
      'An earlier create with the same idempotency key is still in progress: retry it shortly.',
      options,
    );
    this.retryAfter = retryAfter;
  }
}

/** The idempotency key was used before, for another animal. Nothing was stored. */
export class IdempotencyKeyReusedError extends AnimalStoreError<'idempotency_key_reused'> {
  override readonly name = 'IdempotencyKeyReusedError';

  constructor(options?: ErrorOptions) {
    super(
      'idempotency_key_reused',
      'The idempotency key was used before, for another animal: use a new one for each animal.',
      options,
    );
  }
}

/** The animal does not have the status that the call requires. Nothing was changed. */
export class StatusConflictError extends AnimalStoreError<'status_conflict'> {
  override readonly name = 'StatusConflictError';
  /** The animal's status. `undefined` if a remote service has not sent it. */
  readonly status: PetStatus | undefined;

  constructor(status?: PetStatus, options?: ErrorOptions) {
    const found = status === undefined ? 'has another status' : `is ${status}`;
    super('status_conflict', `The animal ${found}, so nothing was changed.`, options);
    this.status = status;
  }
}

/**
 * A store or service is unreachable, or cannot do its work now. A write may or may not have happened. Log the cause,
 * but do not send it to callers: it may reveal internals.
 */
export class UnavailableError extends AnimalStoreError<'service_unavailable'> {
  override readonly name = 'UnavailableError';
  /** Seconds after which to retry. Default: 1. */
  readonly retryAfter: number;

  /** @param doing what failed, as in "reading an animal": part of the message */
  constructor(doing: string, { retryAfter = 1, ...options }: RetryOptions = {}) {
    super('service_unavailable', `The store is not available (${doing}).`, options);
    this.retryAfter = retryAfter;
  }
}

/** Every error class. A `switch` on `code` narrows to one of them. */
export type AnyAnimalStoreError =
  | InvalidPetError
  | InvalidParameterError
  | PetNotFoundError
  | IdempotencyConflictError
  | IdempotencyKeyReusedError
  | StatusConflictError
  | UnavailableError;

/** Recognises an error of the animal store by its code: it may come from another copy of this package. */
export function isAnimalStoreError(value: unknown): value is AnyAnimalStoreError {
  const code: unknown = Object(value).code;
  return CODES.some((known) => known === code);
}

/**
 * Throws if a parameter breaks a rule.
 * @param brokenRules by parameter, the rule that it breaks, or `undefined`
 * @throws {InvalidParameterError} naming every parameter that breaks one
 */
export function requireNoFaults(brokenRules: Readonly<Record<string, string | undefined>>): void {
  const faults = Object.entries(brokenRules).flatMap(([field, message]) =>
    message === undefined ? [] : [{ field, message }],
  );
  if (faults.length > 0) throw new InvalidParameterError(faults);
}

const describe = (faults: readonly Fault[]): string =>
  faults.map(({ field, message }) => `${field} ${message}`.trim()).join('; ');
