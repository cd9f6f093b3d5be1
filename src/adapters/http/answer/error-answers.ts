import { isAnimalStoreError, type AnimalStoreErrorCode } from '../../../domain/errors.js';
import { HttpError, type HttpErrorCode } from '../http-error.js';
import { JSON_TYPE, type HttpAnswer } from '../http-message.js';

/** Every `code` that an error answer can have: those of the animal store, and those that only HTTP knows. */
export type ErrorCode = AnimalStoreErrorCode | HttpErrorCode;

/**
 * The HTTP status of each code (RFC 9110, section 15; 429 and 431 by RFC 6585). It does not compile while one
 * is missing.
 */
export const ERROR_STATUS = {
  invalid_pet: 400,
  invalid_parameter: 400,
  invalid_cursor: 400,
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
} as const satisfies Record<ErrorCode, number>;

const UNAVAILABLE = 'The service is not available at the moment: repeat the request shortly.';

/** An error as the answer a client gets. Nothing of the inside gets out: not a cause, nor an unexpected message. */
export function errorAnswer(error: unknown, requestId: string): HttpAnswer & { readonly code: ErrorCode } {
  if (error instanceof HttpError) return answer(error.code, error.message, error.headers);
  if (!isAnimalStoreError(error)) {
    return answer('internal_error', `An unexpected fault. Tell the operator the request id ${requestId}.`);
  }
  switch (error.code) {
    case 'service_unavailable':
      return answer(error.code, UNAVAILABLE, { 'Retry-After': String(error.retryAfter) });
    case 'idempotency_conflict':
      return answer(error.code, error.message, { 'Retry-After': String(error.retryAfter) });
    case 'invalid_pet':
    case 'invalid_parameter':
    case 'invalid_cursor':
    case 'pet_not_found':
    case 'idempotency_key_reused':
      return answer(error.code, error.message);
  }
}

function answer(
  code: ErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer & { readonly code: ErrorCode } {
  const status = ERROR_STATUS[code];
  return {
    code,
    status,
    headers: { ...headers, 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' },
    body: JSON.stringify({ code, message, status }),
  };
}
