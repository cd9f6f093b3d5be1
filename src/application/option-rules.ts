/** The largest integer of an option. Longer timers fire at once. */
export const LARGEST_INTEGER = 2 ** 31 - 1;

/**
 * The value of an option.
 * @throws {TypeError} it is not an integer from `minimum` to `LARGEST_INTEGER`
 */
export function requireInteger(name: string, value: number, minimum: number): number {
  if (Number.isInteger(value) && value >= minimum && value <= LARGEST_INTEGER) return value;
  throw new TypeError(`${name} must be an integer from ${minimum} to ${LARGEST_INTEGER}`);
}
