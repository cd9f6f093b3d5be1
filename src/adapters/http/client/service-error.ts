import {
  IdempotencyConflictError,
  IdempotencyKeyReusedError,
  InvalidParameterError,
  InvalidPetError,
  PetNotFoundError,
  PreconditionFailedError,
  StatusConflictError,
  UnavailableError,
  type AnimalStoreErrorCode,
} from '../../../domain/errors.js';
import { parseJson } from '../../../exact-json.js';
import type { ErrorCode } from '../error-codes.js';

/**
 * The service refused the call or failed for a reason outside the animal store itself, such as the API key; or the
 * response is not one of an animal store.
 */
export class ServiceError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'ServiceError';
  /**
   * The `code` of the response body, which this version may not know. `unexpected_response`: the response is a redirect,
   * or its body is not one of an animal store, such as a proxy's page. A create may then have happened.
   */
  readonly code: ErrorCode | 'unexpected_response' | (string & {});
  /** HTTP status; 0 where a browser hides it. */
  readonly status: number;
  /** X-Request-Id, if the response had one. The service's operator finds the request by it. */
  readonly requestId: string | undefined;
  /** Seconds after which the service suggests a retry, if it does. */
  readonly retryAfter: number | undefined;

  constructor(
    code: string,
    message: string,
    { status, headers }: Response,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = code;
    this.status = status;
    this.requestId = headers.get('x-request-id') ?? undefined;
    this.retryAfter = retryAfterOf(headers);
  }
}

/** The time of an HTTP date. Of its three forms, that of asctime names no time zone: it is GMT. */
const timeIn = (date: string): number => Date.parse(date.replace(/(?: GMT)?$/, ' GMT'));

/** Seconds of `Retry-After`, which may be a date (RFC 9110, 10.2.3). */
function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get('retry-after') ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  // By the sender's clock, if it is known.
  const now = timeIn(headers.get('date') ?? '') || Date.now();
  const seconds = (timeIn(value) - now) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/**
 * Reads the body of a successful response.
 * @throws {ServiceError} for any other response, and for a body that `read` refuses
 */
export function readBody<T>(
  response: Response,
  text: string,
  read: (body: unknown, headers: Headers) => T,
): T {
  let body: unknown;
  try {
    body = text === '' ? undefined : parseJson(text);
    if (response.ok) return read(body, response.headers);
  } catch (cause) {
    throw unexpectedResponse(response, cause);
  }
  const { code, message } = Object(body);
  if (typeof code === 'string' && typeof message === 'string')
    throw new ServiceError(code, message, response);
  throw unexpectedResponse(response);
}

/** The error for a response that no animal store sends: a redirect, a proxy's page, or a body of another service. */
function unexpectedResponse(response: Response, cause?: unknown): ServiceError {
  const { status } = response;
  // Browsers hide the status of a redirect: they report 0.
  const isRedirect = [0, 301, 302, 303, 307, 308].includes(status);
  const fault = isRedirect
    ? 'a redirect: set baseUrl to the final address'
    : 'its body is not valid';
  const message = `The response (status ${status}) is not one of an animal store: ${fault}.`;
  return new ServiceError('unexpected_response', message, response, { cause });
}

/** The error of the port that says the same as a `ServiceError`, if there is one; else the `ServiceError`. */
export function portErrorOf(cause: ServiceError, petId: string): Error {
  const { code, message, status, retryAfter } = cause;
  if (Object.hasOwn(PORT_ERRORS, code))
    return PORT_ERRORS[code as AnimalStoreErrorCode]({ cause, message, retryAfter }, petId);
  if (code !== 'unexpected_response' || ![502, 503, 504].includes(status)) return cause;
  const doing = `reaching the service: status ${status} without its Error body, as proxies send`;
  return serviceUnavailable(doing, { cause, retryAfter });
}

/** Blames the service or the way to it, not its store. */
export const serviceUnavailable = (
  doing: string,
  options?: ConstructorParameters<typeof UnavailableError>[1],
): UnavailableError =>
  new UnavailableError(doing, {
    ...options,
    message: `The service is not available (${doing}).`,
  });

interface ErrorDetails {
  readonly cause: ServiceError;
  readonly message: string;
  readonly retryAfter: number | undefined;
}

/** The error of each code. Does not compile while one is missing. */
const PORT_ERRORS: Readonly<
  Record<AnimalStoreErrorCode, (details: ErrorDetails, petId: string) => Error>
> = {
  invalid_pet: (details) => new InvalidPetError([], details),
  invalid_parameter: (details) => new InvalidParameterError([], details),
  pet_not_found: (details, petId) => new PetNotFoundError(petId, details),
  idempotency_conflict: (details) => new IdempotencyConflictError(details),
  idempotency_key_reused: (details) => new IdempotencyKeyReusedError(details),
  status_conflict: (details) => new StatusConflictError(undefined, details),
  precondition_failed: (details) => new PreconditionFailedError(details),
  service_unavailable: (details) => new UnavailableError('', details),
};
