/**
 * Driven port: the current time. Expiry is decided by it, so that tests can set the time to exactly before or
 * after an expiry.
 */
export interface Clock {
  /** Exact to the millisecond. May go backwards. */
  now(): Date;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => new Date() };
