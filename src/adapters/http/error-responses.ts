import { isAnimalStoreError, type AnimalStoreErrorCode } from '../../domain/errors.js';
import { BusyError } from './admission.js';
import {
  UNCACHED_JSON,
  commonHeaders,
  type HeaderFields,
  type HttpResponse,
} from './http-message.js';
import type { ErrorBody } from './open-api/schemas.js';

/**
 * The HTTP status of each code: those of the animal store, and those of HTTP alone. The compiler requires every
 * code of the animal store. Codes are public: changing one breaks clients.
 */
const STATUSES = {
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
  status_conflict: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  headers_too_large: 431,
  internal_error: 500,
  service_unavailable: 503,
} as const satisfies Record<AnimalStoreErrorCode, number> & Record<string, number>;

/** Every `code` that an error response can have. */
export type ErrorCode = keyof typeof STATUSES;

/** Codes that only HTTP has. */
export type HttpErrorCode = Exclude<ErrorCode, AnimalStoreErrorCode>;

/** An error of HTTP itself. The client gets the message and the headers. */
export class HttpError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'HttpError';
  /** What is wrong with the request. It decides the status. */
  readonly code: HttpErrorCode;
  /** Headers beyond those of every error, such as Allow, by their usual names. */
  readonly headers: HeaderFields;

  constructor(code: HttpErrorCode, message: string, headers: HeaderFields = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

export const payloadTooLarge = (bodyLimit: number): HttpError =>
  new HttpError('payload_too_large', `The body is larger than ${bodyLimit} bytes.`);

export const clientDisconnected = (): HttpError =>
  new HttpError('request_timeout', 'The client disconnected.');

/** A body parser of the host has read the body, and kept no exact copy. */
export const bodyAlreadyRead = (): HttpError =>
  new HttpError(
    'internal_error',
    'A body parser of the host has read the body. Mount the animal store before it, or let it ' +
      'keep the text as rawBody.',
  );

/**
 * The response to an error, with `commonHeaders`, because the listening server sends it, too. A client never
 * learns the cause of an error, or the message of an error that nobody expected.
 */
export function errorResponse(error: unknown, requestId: string): HttpResponse {
  const { code, message, headers } = shownToClient(error, requestId);
  const status = STATUSES[code];
  const body: ErrorBody = { code, message, status };
  const response = {
    status,
    headers: { ...commonHeaders(requestId), ...headers, ...UNCACHED_JSON },
    body: JSON.stringify(body),
    code,
  };
  if (status < 500 || error instanceof BusyError) return response;
  const failure =
    error instanceof Error
      ? error
      : new Error('A value that is not an Error was thrown', { cause: error });
  return { ...response, failure };
}

/** The part of an error that the client may see. */
function shownToClient(
  error: unknown,
  requestId: string,
): { readonly code: ErrorCode; readonly message: string; readonly headers?: HeaderFields } {
  if (error instanceof HttpError) return error;
  if (!isAnimalStoreError(error))
    return { code: 'internal_error', message: `Internal error. Report request id ${requestId}.` };
  const { code } = error;
  const message = code === 'service_unavailable' ? UNAVAILABLE : error.message;
  if (!('retryAfter' in error)) return { code, message };
  return { code, message, headers: { 'Retry-After': String(error.retryAfter) } };
}

const UNAVAILABLE = 'The service is not available at the moment: retry the request shortly.';
