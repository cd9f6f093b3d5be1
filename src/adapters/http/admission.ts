import { UnavailableError } from '../../domain/errors.js';
import type { HttpRequest } from './http-message.js';

/**
 * Bounds the requests in progress: each holds a place, and callers take turns. Without it, nothing is bounded.
 * `AdmissionControl` of `animal-store/node` implements it.
 */
export interface Admission {
  /**
   * Makes the permit of a request, before its key is checked. May already refuse the request.
   * @throws {BusyError} too many requests; no place is taken.
   */
  admit(request: HttpRequest): Permit;
}

/** The right of a request to places. After `end`, `admitCaller` rejects. */
export interface Permit {
  /**
   * Waits for the turn of the request's caller. Afterwards the request holds a place.
   * @param keyId the id of the API key; empty for a request that needs none
   * @throws {BusyError} the caller has too many requests, at once or after waiting
   */
  admitCaller(keyId: string): Promise<void>;
  /**
   * Does work that waits for the client, such as reading its body. Meanwhile the request holds a place for reading, not
   * one for working.
   * @throws {BusyError} too many requests wait for their clients, or are in progress afterwards
   */
  whileReading<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Called when the response is complete. Gives everything back once the client has received it.
   * @param work the work that continues after the deadline or a disconnect. Its place may stay taken until
   * it settles.
   */
  end(work?: Promise<unknown>): void;
}

/** Too many requests: this one is refused. */
export class BusyError extends UnavailableError {
  /** @param reason why, as in "too many requests at once"; logged, not shown to clients */
  constructor(reason: string) {
    super(reason);
    this.message = `The service is busy (${reason}).`; // the base class would blame the store
  }
}

/** The permit of a request without bounds. */
export const UNBOUNDED: Permit = {
  admitCaller: async () => {},
  whileReading: (work) => work(),
  end: () => {},
};
