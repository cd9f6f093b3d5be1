import { UnavailableError } from '../../domain/errors.js';
import type { HttpRequest } from './http-message.js';

/**
 * Bounds the requests in progress. The interface has no bounds of its own; its host may hand in an implementation, such
 * as `AdmissionControl` of `animal-store/node`.
 */
export interface Admission {
  /**
   * Admits a request before its key is checked, or refuses it.
   * @throws {BusyError} there is no room. Then nothing is held.
   */
  admit(request: HttpRequest): Permit;
}

/** What an admitted request holds. After `end` it takes nothing more. */
export interface Permit {
  /**
   * Counts the request for its caller, and may make it wait for the caller's turn.
   * @param keyId the id of the API key; empty for a request that needs none
   * @returns what to wait for; `undefined` to go on at once
   * @throws {BusyError} the caller has too many requests, at once or after waiting
   */
  admitCaller(keyId: string): Promise<void> | undefined;
  /**
   * Does work that waits for the client, such as reading its body. Meanwhile the request is not one in progress.
   * @throws {BusyError} too many requests wait for their clients, or are in progress afterwards
   */
  whileClient<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Gives everything back. Called when the response is complete, before it is sent. Safe to call twice.
   * @param length the length of the response's body, in characters
   * @param work what goes on after a response at the deadline. Its place may stay taken until it settles.
   */
  end(length: number, work?: Promise<unknown>): void;
}

/** Too many requests: this one is refused before any work is done. */
export class BusyError extends UnavailableError {
  /** @param reason why, as in "too many requests at once"; logged, not shown to clients */
  constructor(reason: string, options?: ConstructorParameters<typeof UnavailableError>[1]) {
    super(reason, { message: `The service is busy (${reason}).`, ...options });
  }
}

/** The permit of a request without bounds. */
export const UNBOUNDED: Permit = {
  admitCaller: () => undefined,
  whileClient: (work) => work(),
  end: () => {},
};
