/**
 * Driven port: the current time. Everything that expires uses it, so that tests can set the time to exactly before or
 * after an expiry.
 */
export interface Clock {
  /** Exact to the millisecond. May go back, as the machine's clock may. */
  now(): Date;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => new Date() };

/**
 * The time of a clock, in milliseconds since 1970.
 * @throws {TypeError} the clock returned an invalid date. No comparison with one is true, so nothing would expire.
 */
export function timeOf(clock: Clock): number {
  const now = clock.now().getTime();
  if (Number.isNaN(now)) throw new TypeError('The clock returned an invalid date.');
  return now;
}
