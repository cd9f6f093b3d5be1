/*
 * JSON with exact 64-bit integers. JSON.parse rounds integers beyond 2^53, so a reviver reads their source text.
 * JSON.stringify throws on a bigint, so JSON.rawJSON writes it.
 */

/** `source` is the text of a number, string, boolean or null. Objects and arrays have none. */
type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;

/** JSON.parse with source text, and JSON.rawJSON: TypeScript does not declare them yet. */
const exactJson = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON(text: string): unknown;
};

/** An integer in plain decimal. No int64 has more than 19 digits. */
const PLAIN_INTEGER = /^-?[0-9]{1,19}$/;

/**
 * Reads a JSON text. Integers become bigints: up to ±(2^53 - 1) in any spelling (`7`, `7.0`, `7e2`), and beyond it in
 * plain decimal of at most 19 digits. A fraction that JSON.parse would round to a safe integer becomes NaN. Other
 * numbers stay numbers. If a member is repeated, the last one counts.
 * @throws {SyntaxError} the text is not JSON, or is nested too deep
 */
export function parseJson(text: string): unknown {
  try {
    return exactJson.parse(text, (_name, value, { source = '' }) => {
      if (typeof value !== 'number') return value;
      if (PLAIN_INTEGER.test(source)) return BigInt(source);
      if (!Number.isSafeInteger(value)) return value;
      return isInteger(source) ? BigInt(value) : NaN;
    });
  } catch (error) {
    const isStackOverflow = error instanceof RangeError;
    throw isStackOverflow ? new SyntaxError('It is nested too deep') : error;
  }
}

/**
 * Whether a JSON number is an integer: after its exponent has moved the point, only zeros follow it (`70.0e-1`: the
 * last two of `700`).
 */
function isInteger(source: string): boolean {
  const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e');
  const [, fraction = ''] = mantissa.split('.');
  const decimals = fraction.length - Number(exponent);
  const digits = mantissa.replaceAll(/[-.]/g, '');
  return decimals <= 0 || Number(digits.slice(-decimals)) === 0;
}

/**
 * JSON.parse can round a fraction to a safe integer only if it has 16 or more digits (a double keeps any 15), or a
 * negative exponent (`1e-400` becomes 0). Other matches only cost time.
 */
const MAY_BE_ROUNDED = /[0-9.]{16}|[0-9]e-/i;

/** At least two objects or arrays. JSON.parse alone would accept any depth, unlike `parseJson`. */
const MAY_BE_NESTED = /[[{][^]*[[{]/;

/**
 * Like `parseJson`, but five times as fast for a flat object without numbers that may be rounded. Its integers stay
 * numbers: they are exact.
 */
export const parseJsonFast = (text: string): unknown =>
  MAY_BE_ROUNDED.test(text) || MAY_BE_NESTED.test(text) ? parseJson(text) : JSON.parse(text);

/** JSON.stringify that also writes bigints, as integers. */
export const stringifyJson = (value: unknown, space?: string | number): string =>
  JSON.stringify(value, writeBigInts, space);

function writeBigInts(this: Readonly<Record<string, unknown>>, name: string, value: unknown) {
  // Not `value`: that is the result of BigInt.prototype.toJSON, if a program has defined it.
  const original = this[name];
  return typeof original === 'bigint' ? exactJson.rawJSON(String(original)) : value;
}
