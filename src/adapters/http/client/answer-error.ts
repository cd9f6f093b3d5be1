import {
  IdempotencyConflictError,
  IdempotencyKeyReusedError,
  InvalidCursorError,
  InvalidParameterError,
  InvalidPetError,
  PetNotFoundError,
  UnavailableError,
  type AnimalStoreErrorCode,
  type Fault,
} from '../../../domain/errors.js';
import { parse } from '../../../exact-json.js';
import type { Answer } from './answer.js';
import { ServiceError, UnexpectedAnswerError } from './service-error.js';

type ErrorMaker = (
  message: string,
  options: ErrorOptions & { readonly retryAfter?: number },
  petId: string,
) => Error;

/** The domain's error for each of its codes. Does not compile while one is missing. */
const DOMAIN_ERRORS: Readonly<Record<AnimalStoreErrorCode, ErrorMaker>> = {
  invalid_pet: (message, options) => new InvalidPetError([faultOf(message)], options),
  invalid_parameter: (message, options) => new InvalidParameterError([faultOf(message)], options),
  invalid_cursor: (_, options) => new InvalidCursorError(options),
  pet_not_found: (_, options, petId) => new PetNotFoundError(petId, options),
  idempotency_conflict: (_, options) => new IdempotencyConflictError(options),
  idempotency_key_reused: (_, options) => new IdempotencyKeyReusedError(options),
  service_unavailable: (_, options) => new UnavailableError('the service says so', options),
};

/** Faults come over the wire as one sentence; the class of the error begins and ends it anew. */
const faultOf = (message: string): Fault => ({
  field: '',
  message: message.replace(/^The (?:animal|call) is not valid: /, '').replace(/\.$/, ''),
});

/** Answers of what stands before a service and does not reach it. */
const UNREACHED: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * The error that an answer stands for, by its code: the domain's own, with the answer itself as its cause, or
 * a `ServiceError`. What is no Error of the interface is unexpected, or tells that the service was not reached.
 * @param petId the animal that was asked for
 */
export function answerError(answer: Answer, retryAfter: number | undefined, petId: string): Error {
  const { status, requestId } = answer;
  const sent = readError(answer.body);
  if (sent === undefined) {
    const cause = new UnexpectedAnswerError('it has no body with code and message', { status, requestId });
    return UNREACHED.has(status)
      ? new UnavailableError('reaching the service', withRetryAfter(cause, retryAfter))
      : cause;
  }
  const error = new ServiceError(sent.code, sent.message, { status, requestId, retryAfter });
  return isDomainCode(sent.code)
    ? DOMAIN_ERRORS[sent.code](sent.message, withRetryAfter(error, retryAfter), petId)
    : error;
}

const withRetryAfter = (cause: Error, retryAfter: number | undefined) =>
  retryAfter === undefined ? { cause } : { cause, retryAfter };

const isDomainCode = (code: string): code is AnimalStoreErrorCode => Object.hasOwn(DOMAIN_ERRORS, code);

/** The interface's Error, if the text is one; its status is HTTP's own. */
function readError(text: string): { readonly code: string; readonly message: string } | undefined {
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('code' in value) || !('message' in value)) {
    return undefined;
  }
  const { code, message } = value;
  return typeof code === 'string' && typeof message === 'string' ? { code, message } : undefined;
}
