import { isAnimalStoreError } from '../../domain/errors.js';
import { ERRORS, messageOf, type ErrorCode } from './error-codes.js';
import {
  JSON_TYPE,
  UNCACHED,
  commonHeaders,
  type HeaderFields,
  type HttpResponse,
} from './http-message.js';
import type { ErrorBody } from './schemas.js';

/** A request that HTTP itself refuses. The client gets the message and the headers. */
export class HttpError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'HttpError';
  /** What is wrong with the request. It decides the status. */
  readonly code: ErrorCode;
  /** Headers beyond those of every error, such as Allow, by their usual names. */
  readonly headers: Readonly<Record<string, string>>;

  /** @param message default: the usual one of the code, if it has no details */
  constructor(
    code: ErrorCode,
    message: string = ERRORS[code].message,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

/** An error with the usual message of its code, with these details filled in. */
export const detailedError = (
  code: ErrorCode,
  details: Parameters<typeof messageOf>[1],
  headers?: HeaderFields,
): HttpError => new HttpError(code, messageOf(code, details), headers);

export const payloadTooLarge = (bodyLimit: number): HttpError =>
  detailedError('payload_too_large', { bodyLimit });

export const lateBody = (): HttpError =>
  new HttpError('request_timeout', 'The body did not come in time.');

/** A body parser of the host has read the body, and kept no exact copy. */
export const bodyAlreadyRead = (): HttpError =>
  new HttpError(
    'internal_error',
    'A body parser of the host has read the body. Mount the animal store before it, or let it ' +
      'keep the bytes as rawBody.',
  );

export const clientDisconnected = (): HttpError =>
  new HttpError('request_timeout', 'The client disconnected.');

/** A response in the Error shape. */
export const refusal = (
  { code, message, status }: ErrorBody,
  headers: HeaderFields = {},
): HttpResponse => ({
  code,
  status,
  headers: { ...headers, 'Content-Type': JSON_TYPE, ...UNCACHED },
  body: JSON.stringify({ code, message, status }),
});

/**
 * The response to an error, with the headers of every response. A client never learns the cause of an error, or the
 * message of an error that nobody expected.
 */
export function errorResponse(error: unknown, requestId: string): HttpResponse {
  const respond = (code: ErrorCode, message: string, headers?: HeaderFields) =>
    refusal(
      { code, message, status: ERRORS[code].status },
      { ...commonHeaders(requestId), ...headers },
    );

  if (error instanceof HttpError) return respond(error.code, error.message, error.headers);
  if (!isAnimalStoreError(error))
    return respond('internal_error', messageOf('internal_error', { requestId }));
  const { code } = error;
  const message = code === 'service_unavailable' ? ERRORS[code].message : error.message;
  if (!('retryAfter' in error)) return respond(code, message);
  return respond(code, message, { 'Retry-After': String(error.retryAfter) });
}
