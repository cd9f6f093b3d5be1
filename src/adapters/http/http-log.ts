import type { ErrorCode } from './error-responses.js';

/** What the HTTP side reports of its work. It never gets a key, a body or a query. What it throws is ignored. */
export interface HttpLog {
  /** Called for every request when its response is complete, whatever its status. */
  responded(request: RespondedRequest): void;
  /** Called with the cause of each response of 500 or above. */
  failed(requestId: string, error: unknown): void;
}

/** A request and its response. */
export interface RespondedRequest {
  /** The X-Request-Id of the response. */
  readonly requestId: string;
  /** As sent, in upper case. `-` if the request could not be read that far, like `path`. */
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** The HTTP status. */
  readonly status: number;
  /** The error code, if it is an error. */
  readonly code?: ErrorCode | undefined;
  /** Identifies the API key, if it is valid. */
  readonly keyId?: string | undefined;
  /** From the request's headers to the complete response, before it is sent. 0 if no work was done. */
  readonly milliseconds: number;
}

export const silentLog: HttpLog = { responded: () => {}, failed: () => {} };
