import { petQueryFaults } from '../../application/call-rules.js';
import {
  IdempotencyConflictError,
  IdempotencyKeyReusedError,
  InvalidParameterError,
  InvalidPetError,
  PetNotFoundError,
  StatusConflictError,
  type AnimalStoreErrorCode,
} from '../../domain/errors.js';
import { newPetFaults } from '../../domain/pet.js';

/** What responses, the OpenAPI document and the docs page say about a code. */
export interface ErrorDescription {
  /** RFC 9110, section 15; 429 and 431: RFC 6585. */
  readonly status: number;
  /** The usual message, with details in braces. An example, if the code is of the animal store. */
  readonly message: string;
  /** What the code means, and what to do. Default: the message. */
  readonly meaning?: string;
  /** The document's names of the headers beyond those of every response. */
  readonly headers?: ReadonlyArray<'Challenge' | 'RetryAfter' | 'Accept' | 'AcceptEncoding'>;
}

/**
 * Every code that an error response can have: those of the animal store, and those of HTTP alone. It does not compile
 * while a code of the animal store is missing. Codes are public: changing one is a breaking change.
 */
export const ERRORS = {
  invalid_pet: {
    status: 400,
    meaning:
      'The body is JSON but not a valid animal. The message names every fault with its field.',
    message: new InvalidPetError(newPetFaults({ name: '', categoryId: '7' })).message,
  },
  invalid_parameter: {
    status: 400,
    meaning: 'A parameter has an invalid value or is given twice. The message names every fault.',
    message: new InvalidParameterError(petQueryFaults({ limit: 0 })).message,
  },
  malformed_request: { status: 400, message: 'The request is not valid HTTP/1.1.' },
  malformed_json: {
    status: 400,
    meaning: 'The body is not valid JSON (RFC 8259) in UTF-8.',
    message: 'The body is not JSON. {fault}.',
  },
  missing_body: { status: 400, message: 'The request needs a JSON body.' },
  missing_api_key: {
    status: 401,
    meaning: 'No API key was sent as a bearer token.',
    message: 'An API key is needed: send the header Authorization: Bearer <API_KEY>.',
    headers: ['Challenge'],
  },
  invalid_api_key: {
    status: 401,
    meaning: 'The API key is unknown, expired or revoked.',
    message: 'The API key is not valid.',
    headers: ['Challenge'],
  },
  insufficient_scope: {
    status: 403,
    meaning: 'The API key is valid but lacks the scope.',
    message: 'The API key lacks the scope {scope}.',
    headers: ['Challenge'],
  },
  pet_not_found: { status: 404, message: new PetNotFoundError('').message },
  route_not_found: { status: 404, message: 'Nothing is served at this path.' },
  method_not_allowed: {
    status: 405,
    meaning: 'The path does not support this method. `Allow` lists those that it supports.',
    message: 'This path answers to {methods} only.',
  },
  request_timeout: { status: 408, message: 'The request did not come in time.' },
  idempotency_conflict: {
    status: 409,
    message: new IdempotencyConflictError().message,
    headers: ['RetryAfter'],
  },
  status_conflict: {
    status: 409,
    meaning:
      'The animal does not have the status `from`. The message says which it has. Nothing was ' +
      'changed.',
    message: new StatusConflictError('sold').message,
  },
  operation_removed: {
    status: 410,
    meaning: 'The operation was removed. The message says what to use instead.',
    message: 'This operation was removed: use GET {replacement}.',
  },
  precondition_failed: {
    status: 412,
    meaning:
      'It has changed since the response with the `ETag` in `If-Match`, or `If-None-Match` names ' +
      'it. Nothing was changed.',
    message: 'It has changed: get it again, and send its ETag.',
  },
  payload_too_large: {
    status: 413,
    meaning: 'The body is larger than the limit.',
    message: 'The body is larger than {bodyLimit} bytes.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The headers say that the body is not JSON, or is compressed.',
    message: 'The body must be JSON: send the header Content-Type: application/json.',
    headers: ['Accept', 'AcceptEncoding'],
  },
  expectation_failed: { status: 417, message: 'The only supported expectation is 100-continue.' },
  idempotency_key_reused: { status: 422, message: new IdempotencyKeyReusedError().message },
  rate_limited: {
    status: 429,
    meaning:
      'The API key sent too many requests. Nothing was stored: wait as long as `Retry-After` says.',
    message:
      'This API key may send {requests} requests in {seconds} s: wait as long as Retry-After says.',
    headers: ['RetryAfter'],
  },
  headers_too_large: { status: 431, message: 'The request line and headers are too large.' },
  internal_error: {
    status: 500,
    meaning: 'An error of the service. A change may or may not have happened.',
    message: 'Internal error. Report request id {requestId}.',
  },
  service_unavailable: {
    status: 503,
    meaning:
      'The store is unavailable, the request took too long, or there are too many requests. A ' +
      'change may or may not have happened.',
    message: 'The service is not available at the moment: repeat the request shortly.',
    headers: ['RetryAfter'],
  },
} as const satisfies Readonly<
  Record<AnimalStoreErrorCode, ErrorDescription> & Record<string, ErrorDescription>
>;

/** Every `code` that an error response can have. */
export type ErrorCode = keyof typeof ERRORS;

/** The usual message of a code, with its details filled in. */
export const messageOf = (
  code: ErrorCode,
  details: Readonly<Record<string, string | number>>,
): string =>
  ERRORS[code].message.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(details[name]));
