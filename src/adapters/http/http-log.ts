import type { ErrorCode } from './answer/error-answers.js';

/** What the HTTP side tells of its work. It never gets a key, a body or a query: they may hold what no log may. */
export interface HttpLog {
  /** Told of every request once its answer is complete, whatever its status. What it throws is ignored. */
  answered(request: AnsweredRequest): void;
  /** An answer of 500 or above: what was behind it. */
  failed(requestId: string, error: unknown): void;
}

/** What may be logged of a request and its answer. */
export interface AnsweredRequest {
  /** What X-Request-Id says in the answer: the client's own where it sent a safe one, else a random UUID. */
  readonly requestId: string;
  /** As sent, in upper case; `-` where a request could not be read as far as that, as in `path`. */
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** The HTTP status of the answer. */
  readonly status: number;
  /** Of the error in the answer; left out when there is none. */
  readonly code?: ErrorCode | undefined;
  /** Names the key, once it is known to be good. */
  readonly keyId?: string | undefined;
  /** From the request's headers to the complete answer, sending it apart; 0 where no work was done for it. */
  readonly milliseconds: number;
}

export const silentLog: HttpLog = { answered: () => {}, failed: () => {} };

/** The log, whose own faults cost no client its answer. */
export const unfailing = (log: HttpLog): HttpLog => ({
  answered: (request) => attempt(() => log.answered(request)),
  failed: (requestId, error) => attempt(() => log.failed(requestId, error)),
});

function attempt(tell: () => void): void {
  try {
    tell();
  } catch {
    // There is nobody left to tell.
  }
}
