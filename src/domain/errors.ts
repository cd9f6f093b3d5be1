/** Every code that an error of the domain or of its ports can have. Codes are public: changing one is a breaking change. */
export const ANIMAL_STORE_ERROR_CODES = [
  'invalid_pet',
  'invalid_parameter',
  'invalid_cursor',
  'pet_not_found',
  'idempotency_conflict',
  'idempotency_key_reused',
  'service_unavailable',
] as const;

/** What went wrong, for programs: stable, one for each class of error. */
export type AnimalStoreErrorCode = (typeof ANIMAL_STORE_ERROR_CODES)[number];

/** What is wrong with one field of an animal, or with one parameter. `field` is empty for the whole. */
export interface Fault {
  /** The name of the field or parameter, as the caller gave it: `categoryId`. Empty for the whole. */
  readonly field: string;
  /** The rule that is broken, as the rest of a sentence that begins with the field: `must not be blank`. */
  readonly message: string;
}

const sentence = (faults: readonly Fault[]): string =>
  faults.map(({ field, message }) => (field === '' ? message : `${field} ${message}`)).join('; ');

/**
 * Base of every error that a caller of the animal store has to expect. Anything else that is thrown is a
 * fault of the program, except the reason of an aborted signal.
 */
export abstract class AnimalStoreError extends Error {
  /** The name of the class, always the same text: what the engine knows it by is lost where code is minified. */
  declare readonly name: string;
  /** What went wrong. A `switch` on it narrows `AnyAnimalStoreError` to the class. */
  abstract readonly code: AnimalStoreErrorCode;
}

/** The animal given breaks a rule; `faults` holds every one of them. Nothing was stored. */
export class InvalidPetError extends AnimalStoreError {
  override readonly name = 'InvalidPetError';
  readonly code = 'invalid_pet';
  /** Every one of them: one or more. */
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[], options?: ErrorOptions) {
    super(`The animal is not valid: ${sentence(faults)}.`, options);
    this.faults = faults;
  }
}

/** A parameter of a call is outside its declared values; `faults` holds every one of them. */
export class InvalidParameterError extends AnimalStoreError {
  override readonly name = 'InvalidParameterError';
  readonly code = 'invalid_parameter';
  /** Every one of them: one or more. */
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[], options?: ErrorOptions) {
    super(`The call is not valid: ${sentence(faults)}.`, options);
    this.faults = faults;
  }
}

/** The cursor was not made by an animal store, was altered, or belongs to a list with another filter. */
export class InvalidCursorError extends AnimalStoreError {
  override readonly name = 'InvalidCursorError';
  readonly code = 'invalid_cursor';

  constructor(options?: ErrorOptions) {
    super(
      'The cursor is not valid for this list: pass it as it was given, with the same status filter, or start again without one.',
      options,
    );
  }
}

/** No animal has this identifier. */
export class PetNotFoundError extends AnimalStoreError {
  override readonly name = 'PetNotFoundError';
  readonly code = 'pet_not_found';
  /** The identifier asked for, as text. */
  readonly petId: string;

  constructor(petId: bigint | string, options?: ErrorOptions) {
    super('No animal has this identifier.', options);
    this.petId = String(petId);
  }
}

/** An earlier create with the same request token is still undecided: ask again after `retryAfter` seconds. */
export class IdempotencyConflictError extends AnimalStoreError {
  override readonly name = 'IdempotencyConflictError';
  readonly code = 'idempotency_conflict';
  /** Seconds after which it is worth asking again; 1 when whoever threw did not say. */
  readonly retryAfter: number;

  constructor(options?: ErrorOptions & { retryAfter?: number | undefined }) {
    super('An earlier request with the same idempotency key is not decided yet: repeat it shortly.', options);
    this.retryAfter = options?.retryAfter ?? 1;
  }
}

/** The request token was used before, for another animal. Nothing was stored. */
export class IdempotencyKeyReusedError extends AnimalStoreError {
  override readonly name = 'IdempotencyKeyReusedError';
  readonly code = 'idempotency_key_reused';

  constructor(options?: ErrorOptions) {
    super('The idempotency key was used before, for another animal: use a new one for each animal.', options);
  }
}

/**
 * A driven side could not be reached or could not do its work, now. Reads change nothing; a write may or
 * may not have happened, unless the call that threw promises more. Ask again after `retryAfter` seconds.
 * The cause is for logs only: it may tell of the inside.
 */
export class UnavailableError extends AnimalStoreError {
  override readonly name = 'UnavailableError';
  readonly code = 'service_unavailable';
  /** Seconds after which it is worth asking again; 1 when whoever threw did not say. */
  readonly retryAfter: number;

  /** @param doing what failed, as in "reading an animal"; logged, not shown to clients. */
  constructor(doing: string, options?: ErrorOptions & { retryAfter?: number | undefined }) {
    super(`The store is not available (${doing}).`, options);
    this.retryAfter = options?.retryAfter ?? 1;
  }
}

/** The errors by code: a `switch` on `code` narrows to the class. */
export type AnyAnimalStoreError =
  | InvalidPetError
  | InvalidParameterError
  | InvalidCursorError
  | PetNotFoundError
  | IdempotencyConflictError
  | IdempotencyKeyReusedError
  | UnavailableError;

/**
 * Whether `value` is an error of the animal store. Decided by its code and not by its class, so that an error
 * thrown by an adapter that was built against another copy of this package counts too.
 */
export const isAnimalStoreError = (value: unknown): value is AnyAnimalStoreError =>
  value instanceof Error && 'code' in value && ANIMAL_STORE_ERROR_CODES.some((code) => code === value.code);
