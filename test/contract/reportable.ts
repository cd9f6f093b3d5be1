import { AssertionError } from 'node:assert';

/**
 * A failed case's error with values that every reporter can print. Those that write JSON, or send errors from process
 * to process as JSON, end at a bigint, some without a word.
 */
export function reportable(error: unknown): unknown {
  if (!(error instanceof AssertionError)) return error;
  const { actual, expected } = error;
  try {
    JSON.stringify([actual, expected]);
    return error;
  } catch {
    return Object.assign(error, { actual: textOf(actual), expected: textOf(expected) });
  }
}

const textOf = (value: unknown): string => JSON.stringify(value, withBigints, 2) ?? String(value);

const withBigints = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? `${value}n` : value;
