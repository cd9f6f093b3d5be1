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
import type { HttpErrorCode } from '../error-responses.js';

/** A response, read to its end. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  readonly requestId: string | undefined;
}

/** What an error says of the response that caused it. */
export interface ResponseDetails {
  /** HTTP status; 0 where a browser hides it. */
  readonly status: number;
  /** X-Request-Id, if the response had one. The service's operator finds the request by it. */
  readonly requestId: string | undefined;
}

/**
 * The service refused the call or failed for a reason outside the animal store itself, such as the API key. A code that
 * this version does not know is kept as it came.
 */
export class ServiceError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'ServiceError';
  /** The `code` of the response body. */
  readonly code: HttpErrorCode | (string & {});
  /** HTTP status. */
  readonly status: number;
  /** X-Request-Id, if the response had one. */
  readonly requestId: string | undefined;
  /** Seconds after which the service suggests a retry, if it does. */
  readonly retryAfter: number | undefined;

  constructor(
    code: string,
    message: string,
    { status, requestId, retryAfter }: ResponseDetails & { readonly retryAfter: number | undefined },
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/** The response is not one of an animal store: a proxy's page, a redirect, an invalid animal. A create may have happened. */
export class UnexpectedResponseError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'UnexpectedResponseError';
  /** HTTP status; 0 where a browser hides it. */
  readonly status: number;
  /** X-Request-Id, if the response had one. */
  readonly requestId: string | undefined;

  /** @param fault What is wrong, as the end of a sentence. */
  constructor(fault: string, { status, requestId, cause }: ResponseDetails & ErrorOptions) {
    super(
      `The response (status ${status}) is not one of an animal store: ${fault}.`,
      cause === undefined ? undefined : { cause },
    );
    this.status = status;
    this.requestId = requestId;
  }
}

type MakeError = (
  message: string,
  options: ErrorOptions & { readonly retryAfter?: number },
  petId: string,
) => Error;

/** The domain's error for each of its codes. Does not compile while one is missing. */
const DOMAIN_ERRORS: Readonly<Record<AnimalStoreErrorCode, MakeError>> = {
  invalid_pet: (message, options) => new InvalidPetError([faultOf(message)], options),
  invalid_parameter: (message, options) => new InvalidParameterError([faultOf(message)], options),
  invalid_cursor: (_, options) => new InvalidCursorError(options),
  pet_not_found: (_, options, petId) => new PetNotFoundError(petId, options),
  idempotency_conflict: (_, options) => new IdempotencyConflictError(options),
  idempotency_key_reused: (_, options) => new IdempotencyKeyReusedError(options),
  service_unavailable: (_, options) => new UnavailableError('the service says so', options),
};

/** Faults arrive as one sentence. The error's class adds its beginning and end again. */
const faultOf = (message: string): Fault => ({
  field: '',
  message: message.replace(/^The (?:animal|call) is not valid: /, '').replace(/\.$/, ''),
});

/**
 * The error for a response without success: the domain's own, with a `ServiceError` as its cause, or that
 * `ServiceError`. A gateway's 502, 503 or 504 without an Error body means that the service was not reached.
 */
export function responseError(
  response: ReceivedResponse,
  retryAfter: number | undefined,
  petId: string,
): Error {
  const { status, requestId } = response;
  const seconds = retryAfter === undefined ? {} : { retryAfter };
  const body = readError(response.body);
  if (body === undefined) {
    const cause = new UnexpectedResponseError('its body has no code and message', { status, requestId });
    return [502, 503, 504].includes(status)
      ? new UnavailableError('reaching the service', { cause, ...seconds })
      : cause;
  }
  const cause = new ServiceError(body.code, body.message, { status, requestId, retryAfter });
  return isDomainCode(body.code)
    ? DOMAIN_ERRORS[body.code](body.message, { cause, ...seconds }, petId)
    : cause;
}

const isDomainCode = (code: string): code is AnimalStoreErrorCode => Object.hasOwn(DOMAIN_ERRORS, code);

function readError(text: string): { readonly code: string; readonly message: string } | undefined {
  let body: { readonly code?: unknown; readonly message?: unknown };
  try {
    body = Object(parse(text));
  } catch {
    return undefined;
  }
  const { code, message } = body;
  return typeof code === 'string' && typeof message === 'string' ? { code, message } : undefined;
}
