/*
 * Readers of single values, for settings and for options of commands. Each throws an Error whose message continues a
 * sentence that starts with the name of the setting or option. No message quotes the value: it may be a secret.
 */

/** Throws. The caller adds the name of the setting or option in front. */
export function refuse(rule: string): never {
  throw new Error(rule);
}

/** Several values, separated by commas or line breaks. */
export const list = (text: string): readonly string[] =>
  text.split(/[,\r\n]/).flatMap((part) => part.trim() || []);

/** A rule for values. */
export interface Rule<Value> {
  /** The rest of a sentence that starts with the name. */
  readonly rule: string;
  readonly isValid: (value: Value) => boolean;
}

/** Adds a rule to a reader. */
export const checked =
  <Value>(read: (text: string) => Value, { isValid, rule }: Rule<Value>) =>
  (text: string): Value => {
    const value = read(text);
    return isValid(value) ? value : refuse(rule);
  };

export const oneOf =
  <const T extends string>(...values: readonly T[]) =>
  (given: string): T =>
    values.find((value) => value === given) ?? refuse(`must be one of ${values.join(', ')}`);

/**
 * Reads a whole number with a unit; `0` needs none. Packages for this also accept fractions, negative values and years.
 * @param units the factor of each unit; `''` stands for no unit
 */
function quantity(
  rule: string,
  units: Readonly<Record<string, number>>,
  minimum: number,
  maximum: number,
) {
  return (given: string): number => {
    const [, amount, unit = ''] = /^(\d+)([a-z]*)$/i.exec(given) ?? [];
    const factor = given === '0' ? 1 : units[unit.toLowerCase()];
    const value = Number(amount) * (factor ?? NaN);
    return value >= minimum && value <= maximum ? value : refuse(rule);
  };
}

export const integer = (minimum: number, maximum: number) =>
  quantity(`must be an integer from ${minimum} to ${maximum}`, { '': 1 }, minimum, maximum);

const SIZES = { b: 1, kb: 1024, mb: 2 ** 20 };

/**
 * A size in bytes: `64kb`, `1mb`. A kilobyte has 1,024 bytes.
 * @param megabytes the largest
 */
export function size(megabytes: number) {
  const rule = `must be a size with its unit (b, kb, mb), from 1b to ${megabytes}mb`;
  return quantity(rule, SIZES, 1, megabytes * SIZES.mb);
}

const DAY = 86_400_000;

/**
 * A length of time in milliseconds: `500ms`, `5s`, `2m`, `24h`, `90d`, or `0`. A day has 24 hours.
 * @param days the longest. Default: 24, because timers of Node.js fire at once beyond 2^31 - 1 milliseconds
 */
export function duration(minimum: 0 | 1, days = 24) {
  const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: DAY };
  const rule = `must be a duration with its unit (ms, s, m, h, d), from ${minimum}ms to ${days}d`;
  return quantity(rule, units, minimum, days * DAY);
}
