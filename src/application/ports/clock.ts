/**
 * Driven port: the current time, which decides expiry. Tests set it to exactly before or after an expiry.
 */
export interface Clock {
  /** Exact to the millisecond. May go backwards. */
  now(): Date;
}

/** The default: the machine's clock. */
export const systemClock: Clock = { now: () => new Date() };
