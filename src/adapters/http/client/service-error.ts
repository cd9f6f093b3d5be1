import {
  IdempotencyConflictError,
  IdempotencyKeyReusedError,
  InvalidParameterError,
  InvalidPetError,
  PetNotFoundError,
  StatusConflictError,
  UnavailableError,
  type AnimalStoreErrorCode,
} from '../../../domain/errors.js';
import type { ErrorCode } from '../error-responses.js';

/**
 * The service refused a call or failed for a reason that the port does not know, such as an invalid API key; or the
 * response is not one of an animal store.
 */
export class ServiceError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'ServiceError';
  /**
   * The `code` of the response body, which this version may not know. `unexpected_response`: the response is a
   * redirect, or its body is not one of an animal store, such as a proxy's page. A create may then have happened.
   */
  readonly code: ErrorCode | 'unexpected_response' | (string & {});
  /** HTTP status; 0 where a browser hides that of a redirect. */
  readonly status: number;
  /** X-Request-Id, if the response had one. The service's operator finds the request by it. */
  readonly requestId: string | undefined;
  /** Retry-After of the response, in seconds, if it has one. */
  readonly retryAfter: number | undefined;

  /** @param body the JSON of the response, if it is JSON */
  constructor({ status, headers }: Response, body: unknown, options?: ErrorOptions) {
    const { code, message } = Object(body);
    const isError = typeof code === 'string' && typeof message === 'string';
    const unexpected = `The response (status ${status}) is not one of an animal store: check baseUrl.`;
    super(isError ? message : unexpected, options);
    this.code = isError ? code : 'unexpected_response';
    this.status = status;
    this.requestId = headers.get('x-request-id') ?? undefined;
    const retryAfter = headers.get('retry-after') ?? '';
    this.retryAfter = /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  }
}

/**
 * Translates the error of an attempt into the port's error. A `ServiceError` that has no counterpart stays as it is.
 * @param petId of the request, for `PetNotFoundError`
 */
export function portErrorOf(cause: unknown, petId?: bigint): unknown {
  if (!(cause instanceof ServiceError))
    return new UnavailableError('reaching the service', { cause });
  const { message, retryAfter, status } = cause;
  // 502, 503 and 504 may come from a proxy, with a body that is not the service's.
  const code = [502, 503, 504].includes(status) ? 'service_unavailable' : cause.code;
  if (!Object.hasOwn(PORT_ERRORS, code)) return cause;
  const error = PORT_ERRORS[code as AnimalStoreErrorCode]({ cause, retryAfter }, petId);
  // The service's message names the faults that the constructors did not get. A proxy's page has none.
  return cause.code === 'unexpected_response' ? error : Object.assign(error, { message });
}

interface ErrorDetails {
  readonly cause: ServiceError;
  readonly retryAfter: number | undefined;
}

/** The error of each code. The compiler requires every one. */
const PORT_ERRORS: Readonly<
  Record<AnimalStoreErrorCode, (details: ErrorDetails, petId: bigint | undefined) => Error>
> = {
  invalid_pet: (details) => new InvalidPetError([], details),
  invalid_parameter: (details) => new InvalidParameterError([], details),
  pet_not_found: (details, petId) => new PetNotFoundError(petId ?? '', details),
  idempotency_conflict: (details) => new IdempotencyConflictError(details),
  idempotency_key_reused: (details) => new IdempotencyKeyReusedError(details),
  status_conflict: (details) => new StatusConflictError(undefined, details),
  service_unavailable: (details) => new UnavailableError('responding', details),
};
