/** Driven port: what time it is. Everything that expires asks it, so that tests can stand on the edges. */
export interface Clock {
  /** The current time, exact to the millisecond. May go back, as the machine's own clock may. */
  now(): Date;
}

/** The machine's own clock, which may be set back. */
export const systemClock: Clock = { now: () => new Date() };
