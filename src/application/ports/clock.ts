/** Driven port: the current time. Everything that expires uses it, so that tests can stand on the edges. */
export interface Clock {
  /** Exact to the millisecond. May go back, as the machine's clock may. */
  now(): Date;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => new Date() };
