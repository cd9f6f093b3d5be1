import { INT64_MAX, INT64_MIN } from '../../../domain/int64.js';
import { IdempotencyConflictError, IdempotencyKeyReusedError } from '../../../domain/errors.js';
import { payloadTooLarge, type ErrorCode } from '../error-responses.js';
import { baseUrl, type HttpSettings } from '../http-settings.js';
import { removedMessage, type Operation } from '../operations.js';
import { rateLimitMessage } from '../rate-limiter.js';
import type { HeaderName } from './headers.js';

/** What the document says about an error code. */
export interface ErrorDescription {
  /** What it means, and what to do. A sentence. */
  readonly meaning: string;
  /** An example of the message. Default: the message that is always the same, else the meaning. */
  readonly message?: string | ((operation: Operation, settings: HttpSettings) => string);
  /** Headers beyond those of every response. */
  readonly headers?: readonly HeaderName[];
}

/** Every code. It does not compile while one is missing. */
export const ERROR_DESCRIPTIONS: Readonly<Record<ErrorCode, ErrorDescription>> = {
  invalid_pet: {
    meaning: 'The body is JSON but not a valid animal. The message names every fault with its field.',
    message: `The animal is not valid: name must not be blank; categoryId must be an integer from ${INT64_MIN} to ${INT64_MAX}.`,
  },
  invalid_parameter: {
    meaning: 'A parameter has an invalid value or is given twice. The message names every fault.',
    message: 'The call is not valid: limit must be an integer from 1 to 100.',
  },
  malformed_request: {
    meaning: 'The request is not well-formed HTTP/1.1.',
    message: 'The request needs exactly one Host header.',
  },
  malformed_json: {
    meaning: 'The body is not valid JSON (RFC 8259) in UTF-8.',
    message: 'The body is not JSON. Expected a value at position 8.',
  },
  missing_body: {
    meaning: 'The request has no body.',
  },
  missing_api_key: {
    meaning: 'No API key was sent as a bearer token.',
    headers: ['Challenge'],
  },
  invalid_api_key: {
    meaning: 'The API key is unknown, expired or revoked.',
    headers: ['Challenge'],
  },
  insufficient_scope: {
    meaning: 'The API key is valid but lacks the scope.',
    message: ({ scope }) => `The API key lacks the scope ${scope}.`,
    headers: ['Challenge'],
  },
  pet_not_found: { meaning: 'No animal has this identifier.' },
  route_not_found: { meaning: 'Nothing is served at this path.' },
  method_not_allowed: {
    meaning: 'The path does not support this method. `Allow` lists those that it supports.',
  },
  request_timeout: {
    meaning: 'The request did not arrive completely in time.',
  },
  idempotency_conflict: {
    meaning: 'An earlier request with the same idempotency key is still in progress. Retry.',
    message: new IdempotencyConflictError().message,
    headers: ['RetryAfter'],
  },
  operation_removed: {
    meaning: 'The operation was removed. The message says what to use instead.',
    message: (_, settings) => removedMessage(baseUrl(settings)),
  },
  payload_too_large: {
    meaning: 'The body is larger than the limit.',
    message: (_, { bodyLimit }) => payloadTooLarge(bodyLimit).message,
  },
  unsupported_media_type: {
    meaning: 'The headers say that the body is not JSON, or is compressed.',
    headers: ['Accept', 'AcceptEncoding'],
  },
  expectation_failed: {
    meaning: 'The request expects something other than `100-continue`.',
  },
  idempotency_key_reused: {
    meaning: 'The idempotency key was used for another animal. Nothing was stored.',
    message: new IdempotencyKeyReusedError().message,
  },
  rate_limited: {
    meaning: 'The API key sent too many requests. Nothing was stored: wait as long as `Retry-After` says.',
    message: (_, { rateLimit }) => rateLimitMessage(rateLimit ?? { requests: 100, seconds: 10 }),
    headers: ['RetryAfter'],
  },
  headers_too_large: { meaning: 'The request line and headers are too large.' },
  internal_error: {
    meaning: 'An error of the service. A create may or may not have happened.',
    message: 'Internal error. Report request id 7f9c2ba4-e88f-4c1d-9d0a-5a1f3c2b1e00.',
  },
  service_unavailable: {
    meaning:
      'The store is unavailable, the request took too long, or there are too many requests. A create may or may ' +
      'not have happened: retry it with the same `Idempotency-Key`.',
    headers: ['RetryAfter'],
  },
};
