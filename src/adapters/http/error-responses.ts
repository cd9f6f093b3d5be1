import { isAnimalStoreError, type AnimalStoreErrorCode } from '../../domain/errors.js';
import { JSON_TYPE, type HttpResponse } from './http-message.js';

/**
 * The HTTP status of every error code (RFC 9110, section 15; 429 and 431: RFC 6585): the codes of the animal store, and the
 * codes of HTTP alone. It does not compile while a code of the animal store is missing. Codes are public: changing one
 * is a breaking change.
 */
export const ERROR_STATUS = {
  invalid_pet: 400,
  invalid_parameter: 400,
  malformed_request: 400,
  malformed_json: 400,
  missing_body: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  insufficient_scope: 403,
  pet_not_found: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  idempotency_conflict: 409,
  operation_removed: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  idempotency_key_reused: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  service_unavailable: 503,
} as const satisfies Readonly<Record<AnimalStoreErrorCode, number> & Record<string, number>>;

/** Every `code` that an error response can have. */
export type ErrorCode = keyof typeof ERROR_STATUS;

/** The codes of HTTP alone. */
export type HttpErrorCode = Exclude<ErrorCode, AnimalStoreErrorCode>;

/** The messages that are always the same. The OpenAPI document quotes them. */
export const MESSAGES = {
  missing_body: 'The request needs a body: an animal in JSON.',
  missing_api_key: 'An API key is needed: send the header Authorization: Bearer <API_KEY>.',
  invalid_api_key: 'The API key is not valid.',
  route_not_found: 'Nothing is served at this path.',
  request_timeout: 'The request did not come in time.',
  unsupported_media_type: 'The body must be JSON: send the header Content-Type: application/json.',
  expectation_failed: 'The only supported expectation is 100-continue.',
  headers_too_large: 'The request line and headers are too large.',
  service_unavailable: 'The service is not available at the moment: repeat the request shortly.',
} as const satisfies Partial<Record<ErrorCode, string>>;

/** A request that HTTP itself refuses. The client gets the message and the headers. */
export class HttpError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'HttpError';
  /** What is wrong with the request. `ERROR_STATUS` has its status. */
  readonly code: HttpErrorCode;
  /** Headers beyond those of every error, such as Allow, by their usual names. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: HttpErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

/** The body is larger than `limit` bytes. */
export const payloadTooLarge = (limit: number): HttpError =>
  new HttpError('payload_too_large', `The body is larger than ${limit} bytes.`);

/** The client sends its body too slowly. */
export const lateBody = (): HttpError => new HttpError('request_timeout', 'The body did not come in time.');

/** Something else has read the body, and kept nothing that is exact. */
export const bodyAlreadyRead = (): HttpError =>
  new HttpError(
    'internal_error',
    'A body parser of the host has read the body. Mount the animal store before it, or let it keep the bytes as rawBody.',
  );

/** The client disconnected before it got its response. */
export const clientGone = (): HttpError => new HttpError('request_timeout', 'The client disconnected.');

/** A response in the Error shape. */
export interface ErrorResponse extends HttpResponse {
  /** The same as in the body. */
  readonly code: ErrorCode;
}

/** The response to an error. It never shows a cause, or the message of an error that nobody expected. */
export function errorResponse(error: unknown, requestId: string): ErrorResponse {
  if (error instanceof HttpError) return response(error.code, error.message, error.headers);
  if (!isAnimalStoreError(error)) {
    return response('internal_error', `Internal error. Report request id ${requestId}.`);
  }
  const message = error.code === 'service_unavailable' ? MESSAGES.service_unavailable : error.message;
  const headers = 'retryAfter' in error ? { 'Retry-After': String(error.retryAfter) } : {};
  return response(error.code, message, headers);
}

function response(code: ErrorCode, message: string, headers: HttpResponse['headers'] = {}): ErrorResponse {
  const status = ERROR_STATUS[code];
  return {
    code,
    status,
    headers: { ...headers, 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' },
    body: JSON.stringify({ code, message, status }),
  };
}
