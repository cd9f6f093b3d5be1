import { strict } from 'node:assert';

/**
 * The assertions of Node.js, except that values of another realm may equal ours. A test runner that gives tests their
 * own realm, as jest does, separates it from what Node.js makes, for instance by `structuredClone`.
 */
export const assert: Omit<typeof strict, 'strict'> = {
  ...strict,
  deepEqual: deepEqual as typeof strict.deepEqual,
};

// From Node.js 26 on, a message that is given must not be undefined.
function deepEqual(actual: unknown, expected: unknown, ...message: [] | [string | Error]): void {
  try {
    strict.deepEqual(actual, expected, ...message);
  } catch {
    strict.deepEqual(ofThisRealm(actual), expected, ...message);
  }
}

/** The same arrays, dates and plain objects, made in this realm; anything else unchanged. */
function ofThisRealm(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Array.from(value, ofThisRealm);
  if (Object.prototype.toString.call(value) === '[object Date]') return new Date(Number(value));
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, ofThisRealm(member)]));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    typeof prototype === 'object' &&
    prototype !== null &&
    Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype, 'isPrototypeOf')
  );
}
