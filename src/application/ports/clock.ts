/** Driven port: the current time. Everything that expires uses it, so that tests can stand on the edges. */
export interface Clock {
  /** Exact to the millisecond. May go back, as the machine's clock may. */
  now(): Date;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => new Date() };

/**
 * The time of a clock, in milliseconds since 1970.
 * @throws {TypeError} it is an invalid date, which is neither before nor after any other: nothing would expire.
 */
export function timeOf(clock: Clock): number {
  const now = clock.now().getTime();
  if (Number.isNaN(now)) throw new TypeError('The clock returned an invalid date.');
  return now;
}
