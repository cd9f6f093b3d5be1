import { isAnimalStoreError } from '../../domain/errors.js';
import { ERRORS, messageOf, type ErrorCode } from './error-codes.js';
import { JSON_TYPE, commonHeaders, type HttpResponse } from './http-message.js';

/** A request that HTTP itself refuses. The client gets the message and the headers. */
export class HttpError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'HttpError';
  /** What is wrong with the request. It decides the status. */
  readonly code: ErrorCode;
  /** Headers beyond those of every error, such as Allow, by their usual names. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

/** The body is larger than `bodyLimit` bytes. */
export const payloadTooLarge = (bodyLimit: number): HttpError =>
  new HttpError('payload_too_large', messageOf('payload_too_large', { bodyLimit }));

/** The client sends its body too slowly. */
export const lateBody = (): HttpError => new HttpError('request_timeout', 'The body did not come in time.');

/** A body parser of the host has read the body, and kept no exact copy. */
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

/**
 * The response to an error, with the headers of every response. It never shows a cause, or the message of an error that
 * nobody expected.
 */
export function errorResponse(error: unknown, requestId: string): ErrorResponse {
  if (error instanceof HttpError) return response(error.code, error.message, requestId, error.headers);
  if (!isAnimalStoreError(error)) {
    return response('internal_error', messageOf('internal_error', { requestId }), requestId);
  }
  const message = error.code === 'service_unavailable' ? ERRORS.service_unavailable.message : error.message;
  const headers = 'retryAfter' in error ? { 'Retry-After': String(error.retryAfter) } : {};
  return response(error.code, message, requestId, headers);
}

function response(
  code: ErrorCode,
  message: string,
  requestId: string,
  headers: HttpResponse['headers'] = {},
): ErrorResponse {
  const { status } = ERRORS[code];
  return {
    code,
    status,
    headers: {
      ...commonHeaders(requestId),
      ...headers,
      'Content-Type': JSON_TYPE,
      'Cache-Control': 'no-store',
    },
    body: JSON.stringify({ code, message, status }),
  };
}
