import {
  IdempotencyConflictError,
  IdempotencyKeyReusedError,
  InvalidParameterError,
  InvalidPetError,
  PetNotFoundError,
  StatusConflictError,
  UnavailableError,
  type AnimalStoreErrorCode,
  type Fault,
} from '../../../domain/errors.js';
import { parse } from '../../../exact-json.js';
import type { ErrorCode } from '../error-codes.js';

/** A response, read to its end. */
export interface ReceivedResponse extends Omit<ResponseError, keyof Error> {
  readonly headers: Headers;
  /** The body in the pieces that arrived. */
  readonly body: readonly Uint8Array[];
}

/** An error that a response of the service, or of a proxy, caused. */
export abstract class ResponseError extends Error {
  /** HTTP status; 0 where a browser hides it. */
  readonly status: number;
  /** X-Request-Id, if the response had one. The service's operator finds the request by it. */
  readonly requestId: string | undefined;
  /** Seconds after which the service suggests a retry, if it does. */
  readonly retryAfter: number | undefined;

  constructor(message: string, response: Omit<ResponseError, keyof Error> & ErrorOptions) {
    super(message, response);
    this.status = response.status;
    this.requestId = response.requestId;
    this.retryAfter = response.retryAfter;
  }
}

/**
 * The service refused the call or failed for a reason outside the animal store itself, such as the API key. A code that
 * this version does not know is kept as it came.
 */
export class ServiceError extends ResponseError {
  // Literals: minifiers rename classes.
  override readonly name = 'ServiceError';
  /** The `code` of the response body. */
  readonly code: ErrorCode | (string & {});

  constructor(code: string, message: string, response: Omit<ResponseError, keyof Error>) {
    super(message, response);
    this.code = code;
  }
}

/**
 * The response is not one of an animal store: a proxy's page, a redirect, an invalid animal. A create may have
 * happened.
 */
export class UnexpectedResponseError extends ResponseError {
  override readonly name = 'UnexpectedResponseError';

  /** @param fault What is wrong, as the end of a sentence. */
  constructor(fault: string, response: Omit<ResponseError, keyof Error> & ErrorOptions) {
    super(`The response (status ${response.status}) is not one of an animal store: ${fault}.`, response);
  }
}

/** @throws {UnexpectedResponseError} the body is not UTF-8 or not JSON, or `read` throws. */
export function readBody<T>(response: ReceivedResponse, read: (body: unknown) => T): T {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    const texts = response.body.map((bytes) => decoder.decode(bytes, { stream: true }));
    return read(parse(texts.join('') + decoder.decode()));
  } catch (cause) {
    throw new UnexpectedResponseError('its body is not valid', { ...response, cause });
  }
}

/**
 * The error for a response without success: the domain's own, with a `ServiceError` as its cause, or that
 * `ServiceError`. A gateway's 502, 503 or 504 without an Error body means that the service was not reached.
 */
export function responseError(response: ReceivedResponse, petId: string): unknown {
  try {
    const { code, message } = readBody(response, Object);
    if (typeof code !== 'string' || typeof message !== 'string') {
      throw new UnexpectedResponseError('its body has no code and message', response);
    }
    const cause = new ServiceError(code, message, response);
    const domainError = Object.hasOwn(DOMAIN_ERRORS, code) && DOMAIN_ERRORS[code as AnimalStoreErrorCode];
    return domainError ? domainError(cause, petId) : cause;
  } catch (cause) {
    if (![502, 503, 504].includes(response.status)) return cause;
    const doing = `reaching the service: status ${response.status} without its Error body, as proxies send`;
    return new UnavailableError(doing, { cause, retryAfter: response.retryAfter });
  }
}

/** The domain's error for each of its codes. Does not compile while one is missing. */
const DOMAIN_ERRORS: Readonly<Record<AnimalStoreErrorCode, (cause: ServiceError, petId: string) => Error>> = {
  invalid_pet: (cause) => new InvalidPetError(faultsOf(cause), { cause }),
  invalid_parameter: (cause) => new InvalidParameterError(faultsOf(cause), { cause }),
  pet_not_found: (cause, petId) => new PetNotFoundError(petId, { cause }),
  idempotency_conflict: (cause) => new IdempotencyConflictError({ cause, retryAfter: cause.retryAfter }),
  idempotency_key_reused: (cause) => new IdempotencyKeyReusedError({ cause }),
  status_conflict: (cause) => new StatusConflictError(undefined, { cause }),
  service_unavailable: (cause) => new UnavailableError('it says so', { cause, retryAfter: cause.retryAfter }),
};

/** Faults arrive as one sentence. The error's class adds its beginning and end again. */
const faultsOf = ({ message }: Error): Fault[] => [
  { field: '', message: message.replace(/^The (?:animal|call) is not valid: |\.$/g, '') },
];
