/*
 * JSON with exact 64-bit integers. JSON.parse rounds integers beyond 2^53, so a reviver reads their source text.
 * JSON.stringify throws on a bigint, so JSON.rawJSON writes it.
 */

type Reviver = (name: string, value: unknown, context: { readonly source: string }) => unknown;

/** Two features that TypeScript's library does not declare yet (TC39: JSON.parse source text access). */
const exactJson = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON(text: string): unknown;
};

/** An integer in plain decimal. No int64 has more than 19 digits. */
const PLAIN_INTEGER = /^-?[0-9]{1,19}$/;

/**
 * Reads a JSON text. Integers become bigints: up to ±(2^53 - 1) in any spelling (`7`, `7.0`, `7e2`), and beyond it in
 * plain decimal of at most 19 digits. Other numbers stay numbers. If a member is repeated, the last one counts.
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

/** Text that needs `parseJson`: it may have long numbers, or nesting, which JSON.parse alone accepts deeper. */
const LONG_OR_NESTED = /[0-9]{16}|[[{][^]*[[{]/;

/**
 * Like `parseJson`, but in a flat object without long numbers integers stay numbers, which are exact. That is five
 * times as fast.
 */
export const parseJsonFast = (text: string): unknown =>
  LONG_OR_NESTED.test(text) ? parseJson(text) : JSON.parse(text);

/** JSON.stringify that also writes bigints, as integers. */
export const stringifyJson = (value: unknown, space?: string | number): string =>
  JSON.stringify(value, writeBigInts, space);

function writeBigInts(this: Readonly<Record<string, unknown>>, name: string, value: unknown) {
  // `value` would be the result of a `toJSON` that the program gave to BigInt.prototype.
  const original = this[name];
  return typeof original === 'bigint' ? exactJson.rawJSON(String(original)) : value;
}
