import type { HttpErrorCode } from '../error-responses.js';

/** What is known of the answer that an error is about. */
export interface AnswerDetails {
  /** The HTTP status; 0 where a browser hides it. */
  readonly status: number;
  /** Its X-Request-Id, if it had one. */
  readonly requestId: string | undefined;
}

/**
 * The service refused the call, or failed, for a reason that the animal store in itself does not know: the API
 * key, the rate, a fault of its own. A code that this version has never heard of is kept as it came.
 */
export class ServiceError extends Error {
  /** Always this text: a class's own name is lost where code is minified. */
  override readonly name = 'ServiceError';
  /** The `code` of the error's body. */
  readonly code: HttpErrorCode | (string & {});
  /** The HTTP status of the answer. */
  readonly status: number;
  /** What the service calls this request by; its operator finds it in the log. */
  readonly requestId: string | undefined;
  /** The seconds after which to ask again, if the service said so. */
  readonly retryAfter: number | undefined;

  constructor(
    code: string,
    message: string,
    { status, requestId, retryAfter }: AnswerDetails & { readonly retryAfter: number | undefined },
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/**
 * What answered is not the animal store, or not one that keeps to the interface: a page of a proxy, a redirect,
 * an animal that is none. A create may have happened.
 */
export class UnexpectedAnswerError extends Error {
  /** Always this text: a class's own name is lost where code is minified. */
  override readonly name = 'UnexpectedAnswerError';
  /** The HTTP status; 0 where a browser hides it. */
  readonly status: number;
  /** What the service calls this request by, if the answer came from it. */
  readonly requestId: string | undefined;

  /** @param what what is wrong, as the rest of a sentence */
  constructor(what: string, { status, requestId, cause }: AnswerDetails & ErrorOptions) {
    const message = `The answer (status ${status}) is not one of an animal store: ${what}.`;
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.requestId = requestId;
  }
}
