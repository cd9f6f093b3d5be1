import type { PetStatus } from './pet-status.js';

/** The class of each error code. A literal, because minifiers rename classes. */
const ERROR_NAMES = {
  invalid_pet: 'InvalidPetError',
  invalid_parameter: 'InvalidParameterError',
  pet_not_found: 'PetNotFoundError',
  idempotency_conflict: 'IdempotencyConflictError',
  idempotency_key_reused: 'IdempotencyKeyReusedError',
  status_conflict: 'StatusConflictError',
  precondition_failed: 'PreconditionFailedError',
  service_unavailable: 'UnavailableError',
} as const;

/** What went wrong, for programs: stable, one for each class of error. Codes are public: changing one breaks programs. */
export type AnimalStoreErrorCode = keyof typeof ERROR_NAMES;

/** Every code that an error of the domain or of its ports can have. */
export const ANIMAL_STORE_ERROR_CODES = Object.keys(
  ERROR_NAMES,
) as ReadonlyArray<AnimalStoreErrorCode>;

/** What is wrong with one field of an animal, or with one parameter. */
export interface Fault {
  /** The name of the field or parameter, as the caller gave it: `categoryId`. Empty for the whole. */
  readonly field: string;
  /** The rule that is broken, as the rest of a sentence that begins with the field: `must not be blank`. */
  readonly message: string;
}

/** For each field or parameter that was checked, the rule that it breaks, or `undefined` if it is valid. */
type CheckResults = Readonly<Record<string, string | undefined>>;

/** A fault for each broken rule. */
export const faultsOf = (results: CheckResults): Fault[] =>
  Object.entries(results).flatMap(([field, message]) =>
    message === undefined ? [] : [{ field, message }],
  );

/** @throws {InvalidParameterError} naming every parameter that breaks a rule. */
export function requireValid(results: CheckResults): void {
  const faults = faultsOf(results);
  if (faults.length > 0) throw new InvalidParameterError(faults);
}

const sentence = (faults: readonly Fault[]): string =>
  faults.map(({ field, message }) => (field === '' ? message : `${field} ${message}`)).join('; ');

/** Base of every error to expect from the animal store. Any other, except an abort's reason, is a fault of the program. */
export abstract class AnimalStoreError<
  Code extends AnimalStoreErrorCode = AnimalStoreErrorCode,
> extends Error {
  /** The name of the class, also where code is minified. */
  override readonly name: string;
  /** What went wrong. A `switch` on it narrows `AnyAnimalStoreError` to the class. */
  readonly code: Code;

  protected constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = ERROR_NAMES[code];
    this.code = code;
  }

  /** For JSON: name, code, message and details. Not the cause or the stack, which may reveal internals. */
  toJSON(): object {
    return Object.assign({ message: this.message }, this);
  }
}

/** The animal breaks a rule. Nothing was stored. */
export class InvalidPetError extends AnimalStoreError<'invalid_pet'> {
  /** Every fault. Empty if the error came from another process, which gave only the message. */
  readonly faults: readonly Fault[];

  /** @param options `message`: the whole sentence, if the faults are not known */
  constructor(faults: readonly Fault[], options?: ErrorOptions & { message?: string }) {
    super(
      'invalid_pet',
      options?.message ?? `The animal is not valid: ${sentence(faults)}.`,
      options,
    );
    this.faults = faults;
  }
}

/** A parameter of a call is not valid. */
export class InvalidParameterError extends AnimalStoreError<'invalid_parameter'> {
  /** Every fault. Empty if the error came from another process, which gave only the message. */
  readonly faults: readonly Fault[];

  /** @param options `message`: the whole sentence, if the faults are not known */
  constructor(faults: readonly Fault[], options?: ErrorOptions & { message?: string }) {
    super(
      'invalid_parameter',
      options?.message ?? `The call is not valid: ${sentence(faults)}.`,
      options,
    );
    this.faults = faults;
  }
}

/** No animal has this identifier. */
export class PetNotFoundError extends AnimalStoreError<'pet_not_found'> {
  /** The requested id, as text. */
  readonly petId: string;

  constructor(petId: bigint | string, options?: ErrorOptions) {
    super('pet_not_found', 'No animal has this identifier.', options);
    this.petId = String(petId);
  }
}

/** An earlier create with the same idempotency key is still in progress: retry after `retryAfter` seconds. */
export class IdempotencyConflictError extends AnimalStoreError<'idempotency_conflict'> {
  /** Seconds after which to retry. Default: 1. */
  readonly retryAfter: number;

  constructor(options?: ErrorOptions & { retryAfter?: number | undefined }) {
    super(
      'idempotency_conflict',
      'An earlier request with the same idempotency key is not decided yet: repeat it shortly.',
      options,
    );
    this.retryAfter = options?.retryAfter ?? 1;
  }
}

/** The idempotency key was used before, for another animal. Nothing was stored. */
export class IdempotencyKeyReusedError extends AnimalStoreError<'idempotency_key_reused'> {
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
  /** The animal's status. `undefined` if the error came from another process, which gave only the message. */
  readonly status: PetStatus | undefined;

  constructor(status: PetStatus | undefined, options?: ErrorOptions) {
    super(
      'status_conflict',
      `The animal is ${status ?? 'in another status'}, so nothing was changed.`,
      options,
    );
    this.status = status;
  }
}

/** The animal has changed since the caller read it. Nothing was changed. */
export class PreconditionFailedError extends AnimalStoreError<'precondition_failed'> {
  constructor(options?: ErrorOptions) {
    super(
      'precondition_failed',
      'The animal has changed since it was read: read it again. Nothing was changed.',
      options,
    );
  }
}

/**
 * A store or service cannot be reached or cannot do its work now. A write may or may not have happened. Retry after
 * `retryAfter` seconds. The cause is for logs only: it may reveal internals.
 */
export class UnavailableError extends AnimalStoreError<'service_unavailable'> {
  /** Seconds after which to retry. Default: 1. */
  readonly retryAfter: number;

  /**
   * @param doing what failed, as in "reading an animal"; logged, not shown to clients
   * @param options `message`: the whole sentence, if it is not the store that is not available
   */
  constructor(
    doing: string,
    options?: ErrorOptions & { message?: string; retryAfter?: number | undefined },
  ) {
    super(
      'service_unavailable',
      options?.message ?? `The store is not available (${doing}).`,
      options,
    );
    this.retryAfter = options?.retryAfter ?? 1;
  }
}

/** The errors by code: a `switch` on `code` narrows to the class. */
export type AnyAnimalStoreError =
  | InvalidPetError
  | InvalidParameterError
  | PetNotFoundError
  | IdempotencyConflictError
  | IdempotencyKeyReusedError
  | StatusConflictError
  | PreconditionFailedError
  | UnavailableError;

/** Whether `value` is an error of the animal store, by its code: it may come from another copy of this package. */
export const isAnimalStoreError = (value: unknown): value is AnyAnimalStoreError =>
  value instanceof Error &&
  'code' in value &&
  ANIMAL_STORE_ERROR_CODES.some((code) => code === value.code);
