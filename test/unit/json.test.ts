import { expect } from 'chai';
import * as fc from 'fast-check';
import { parseJson, parseJsonFast, stringifyJson } from '../../src/json.js';

const MAX = 2n ** 63n - 1n;
const deep = (levels: number): string => `${'['.repeat(levels)}1${']'.repeat(levels)}`;

describe('parseJson', () => {
  for (const [text, value] of [
    ['[7,9223372036854775807]', [7n, MAX]],
    ['{"a":-9223372036854775808}', { a: -MAX - 1n }],
    ['9223372036854775808', MAX + 1n],
    ['[7.0,7e2,-0]', [7n, 700n, 0n]],
    ['[70e-1,7.0000000000000000,-0e-9]', [7n, 7n, 0n]],
    ['[1.5,75e-1,9.2e18,1e400]', [1.5, 7.5, 9.2e18, Infinity]],
    ['[4503599627370497.5,100000000000000.00000000000001,1e-400]', [NaN, NaN, NaN]],
    ['"9007199254740993"', '9007199254740993'],
    ['{"a":1,"a":2}', { a: 2n }],
  ] as const)
    it(`reads ${text}`, () => {
      expect(parseJson(text)).to.deep.equal(value);
    });

  it('keeps __proto__ as a member of its own', () => {
    expect(Object.keys(parseJson('{"__proto__":{"a":1}}') as object)).to.deep.equal(['__proto__']);
  });

  for (const [what, text] of [
    ['no JSON', '{"a":1,}'],
    ['nested too deep', deep(30_000)],
  ] as const)
    it(`refuses with a SyntaxError what is ${what}`, () => {
      expect(() => parseJson(text)).to.throw(SyntaxError);
    });
});

describe('parseJsonFast', () => {
  const integer = fc.bigInt({ min: -MAX - 1n, max: MAX }).map(String);
  const rounded = fc.constantFrom('100000000000000.00000000000001', '1e-400', '70e-1');
  const member = fc.oneof(
    integer,
    rounded,
    fc.string().map(stringifyJson),
    fc.constant('{"x":[1]}'),
  );

  it('reads what parseJson reads; exact integers stay numbers', () => {
    fc.assert(
      fc.property(fc.array(member), (members) => {
        const text = `{${members.map((value, at) => `"${at}":${value}`).join()}}`;
        expect(stringifyJson(parseJsonFast(text))).to.equal(stringifyJson(parseJson(text)));
      }),
    );
  });

  it('refuses what is nested too deep, whatever its numbers', () => {
    expect(() => parseJsonFast(`{"a":${deep(30_000)}}`)).to.throw(SyntaxError);
  });
});

describe('stringifyJson', () => {
  it('writes bigints as integers, and the rest as JSON.stringify does', () => {
    expect(stringifyJson({ a: [MAX, 1.5], b: undefined, c: new Date(0) }, 1)).to.equal(
      '{\n "a": [\n  9223372036854775807,\n  1.5\n ],\n "c": "1970-01-01T00:00:00.000Z"\n}',
    );
  });

  it('is exact even if BigInt.prototype has a toJSON', () => {
    const prototype: object = BigInt.prototype;
    Object.assign(prototype, { toJSON: () => 'wrong' });
    try {
      expect(stringifyJson([MAX])).to.equal('[9223372036854775807]');
    } finally {
      Reflect.deleteProperty(prototype, 'toJSON');
    }
  });
});
