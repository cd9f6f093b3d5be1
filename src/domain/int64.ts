/** The smallest 64-bit signed integer, -2^63. */
export const INT64_MIN = -(2n ** 63n);

/** The largest 64-bit signed integer, 2^63 - 1. */
export const INT64_MAX = 2n ** 63n - 1n;

/** The rule of an id, as the rest of a sentence. */
export const INT64_RULE = 'must be a 64-bit integer';

/** Whether `value` is a bigint from -2^63 to 2^63 - 1. */
export const isInt64 = (value: unknown): value is bigint =>
  typeof value === 'bigint' && value >= INT64_MIN && value <= INT64_MAX;

/**
 * The int64 that `value` stands for: a bigint in range, or a number that is a safe integer (-0 is 0).
 * `undefined` for everything else, numbers beyond ±(2^53 - 1) included: such a number has already lost digits.
 */
export function toInt64(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return isInt64(value) ? value : undefined;
}

/**
 * Reads an int64 from its canonical decimal text, as `String` writes it.
 * `undefined` for any other spelling (`007`, `+5`, `-0`, `1e3`, `0x1`, digits of other scripts) and out of range.
 */
export function parseInt64(text: string): bigint | undefined {
  if (!/^(?:0|-?[1-9][0-9]{0,18})$/.test(text)) return undefined;
  const value = BigInt(text);
  return isInt64(value) ? value : undefined;
}
