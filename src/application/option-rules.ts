/* Rules of options, for callers without a compiler: a misspelled option would silently count for nothing. */

type Names = readonly string[];

/**
 * Checks options by their names. An `AbortController` may stand for them, because it has a `signal`; the signal itself may
 * not.
 * @throws {TypeError} they are no object of options, or one of them does not exist
 */
export function requireOptions(options: object, known: Names): void {
  requireNames(options, known, () => true);
}

/**
 * Checks options that may be part of another object, such as a context with a `signal`. As for a weak type of TypeScript,
 * one known name is enough. But a name that differs from an omitted one in case, hyphens or underscores only is meant
 * as that one.
 * @throws {TypeError} they are no object, have none of the names, or a misspelled one
 */
export function requireSomeOption(options: object, known: Names): void {
  const given = Object.keys(Object(options));
  if (given.length > 0 && given.every((name) => known.includes(name))) return; // almost always
  const omitted = known.filter((name) => !(name in Object(options)));
  const isNoneKnown = omitted.length === known.length;
  const isMisspelled = (name: string): boolean =>
    omitted.some((meant) => lettersOf(meant) === lettersOf(name));
  requireNames(options, known, (name) => isNoneKnown || isMisspelled(name));
}

const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '');

function requireNames(options: object, known: Names, isWrong: (other: string) => boolean): void {
  const kind = Object.prototype.toString.call(options);
  if (kind !== '[object Object]' && !known.some((name) => name in Object(options)))
    throw new TypeError(`Options must be an object with ${known.join(', ')}`);
  const wrong = Object.keys(options).find((name) => !known.includes(name) && isWrong(name));
  if (wrong !== undefined)
    throw new TypeError(`There is no option ${wrong} here, only ${known.join(', ')}`);
}

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
