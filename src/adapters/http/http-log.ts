import type { ErrorCode } from './error-answers.js';

/** What the HTTP side tells of its work. It never gets a key, a body or a query: they may hold what no log may. */
export interface HttpLog {
  answered(request: AnsweredRequest): void;
  /** An answer of 500 or above: what was behind it. */
  failed(requestId: string, error: unknown): void;
}

export interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  readonly status: number;
  readonly code?: ErrorCode | undefined;
  /** Names the key, once it is known to be good. */
  readonly keyId?: string | undefined;
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
