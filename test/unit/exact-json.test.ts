import { expect } from 'chai';
import * as fc from 'fast-check';
import { isLosslessNumber, parse as parseLossless } from 'lossless-json';
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type * as ExactJson from '../../src/exact-json.js';
import {
  JsonNumber,
  JsonSyntaxError,
  parseJson,
  readJson,
  stringifyJson,
  type JsonValue,
} from '../../src/exact-json.js';

const INT64_MIN = -9223372036854775808n;
const INT64_MAX = 9223372036854775807n;

/** `depth` arrays in each other, and in the innermost what is given. */
const nested = (depth: number, inside = ''): string =>
  '['.repeat(depth) + inside + ']'.repeat(depth);

/** `depth` objects in each other, and in the innermost what is given. */
const nestedObjects = (depth: number, inside: string): string =>
  '{"a":'.repeat(depth) + inside + '}'.repeat(depth);

const isTooDeep = (text: string): boolean => readJson(text).tooDeep;

/** An object with `count` members of the same name. */
const repeated = (count: number): string => `{${Array(count).fill('"a":1').join(',')}}`;

/** Whether a reader takes the text. Only the error that the reader promises says that it does not. */
function accepts(
  reader: (text: string) => unknown,
  text: string,
  refusal: ErrorConstructor | typeof JsonSyntaxError = JsonSyntaxError,
): boolean {
  try {
    reader(text);
    return true;
  } catch (error) {
    if (error instanceof refusal) return false;
    throw error;
  }
}

const duplicates = (text: string): readonly string[] => readJson(text).duplicates;

/** A document's value with each number made into something else. */
function convert(value: JsonValue, toNumber: (text: string) => unknown): unknown {
  if (value instanceof JsonNumber) return toNumber(value.text);
  if (Array.isArray(value)) return value.map((element) => convert(element, toNumber));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, convert(member, toNumber)]),
  );
}

const read = (text: string, toNumber: (text: string) => unknown = Number): unknown =>
  convert(readJson(text, Infinity).value, toNumber);

function syntaxError(text: string, reader: (text: string) => unknown = readJson): JsonSyntaxError {
  try {
    reader(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
    throw error;
  }
  return expect.fail(`no error for ${text}`);
}

const FAULTS: readonly (readonly [text: string, message: string])[] = [
  ['', 'Expected a value, but the text ends, at position 0'],
  ['  ', 'Expected a value, but the text ends, at position 2'],
  ['{"name":"Bella', 'Expected a closing quote, but the text ends, at position 14'],
  ['{"a":1', 'Expected "," or "}", but the text ends, at position 6'],
  ['[1', 'Expected "," or "]", but the text ends, at position 2'],
  ['{"a":1]', 'Expected "," or "}" at position 6'],
  ['[1,]', 'Expected a value at position 3'],
  ['{,}', 'Expected a member name in quotes at position 1'],
  ['{"a":1,}', 'Expected a member name in quotes at position 7'],
  ['{"a",1}', 'Expected ":" at position 4'],
  ['{} {}', 'Expected the end of the text at position 3'],
  ['"a\nb"', 'Expected an escape for this character at position 2'],
  ['"a\\xb"', 'Expected a valid escape at position 2'],
  ['"\\u12G4"', 'Expected a valid escape at position 1'],
  ['nul', 'Expected a value at position 0'],
  ['-', 'Expected a value at position 0'],
  ['.5', 'Expected a value at position 0'],
  ['01', 'Expected the end of the text at position 1'],
  ['1e', 'Expected the end of the text at position 1'],
];

describe('readJson', () => {
  it('says what it expected, and at which position', () => {
    for (const [text, message] of FAULTS) {
      const error = syntaxError(text);
      expect(error, text)
        .to.include({ name: 'JsonSyntaxError', message })
        .and.be.instanceOf(SyntaxError);
    }
  });

  it('accepts the same characters and escapes in a string as JSON.parse', () => {
    for (let code = 0; code < 128; code += 1) {
      for (const text of [
        `"x${String.fromCharCode(code)}"`,
        `"\\${String.fromCharCode(code)}0000"`,
      ]) {
        expect(accepts(readJson, text), text).to.equal(accepts(JSON.parse, text, SyntaxError));
      }
    }
  });

  it('keeps its messages short, however long the text', () => {
    expect(syntaxError(`["${'x'.repeat(1_000_000)}`).message).to.have.length.below(80);

    const name = `"${'x'.repeat(1_000_000)}"`;
    const { message } = syntaxError(`{${name}:1,${name}:1}`, parseJson);

    expect(message).to.have.length.below(120);
  });

  it('reads an escaped name as itself, whatever names it read before', () => {
    JSON.parse('{"h":[],"\\\\":0}'); // after this, V8 of Node.js 24 reads the next name wrong (nodejs/node#63785)
    expect(Object.keys(Object(readJson('{"h":1,"\\"":2}').value))).to.deep.equal(['h', '"']);
  });

  it('returns strings that do not keep their whole text in memory', () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = runInNewContext('gc');
    const padding = 'x'.repeat(1_000_000);
    const names: unknown[] = [];
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let index = 0; index < 12; index += 1) {
      const text = JSON.stringify([`an animal with number ${index}`, padding + index]);
      const { value } = readJson(text);
      names.push(Array.isArray(value) && value[0]);
    }
    collectGarbage();

    expect(process.memoryUsage().heapUsed - before).to.be.below(4_000_000);
    expect(names[11]).to.equal('an animal with number 11');
  });

  describe('on deep texts', () => {
    it('builds values down to 16 levels, and reports when there are more', () => {
      expect(isTooDeep(nested(16)), '16 arrays').to.equal(false);
      assert.deepEqual(read(nested(16)), JSON.parse(nested(16)));
      expect(isTooDeep(nested(17)), '17 arrays').to.equal(true);
      expect(isTooDeep(nestedObjects(16, '1')), '16 objects').to.equal(false);
      expect(isTooDeep(nestedObjects(16, '{}')), '17 objects').to.equal(true);
    });

    it('replaces what is too deep by empty containers', () => {
      const text = '{"a":[1,"two",{"three":[4]}],"b":{"c":[{"d":5}]},"e":"f"}';
      const { value, tooDeep } = readJson(text, 2);

      assert.deepEqual(convert(value, Number), { a: [1, 'two', {}], b: { c: [] }, e: 'f' });
      expect(tooDeep, 'too deep').to.equal(true);
    });

    it('reads 50,000 levels without a stack overflow', () => {
      const levels = 50_000;

      const mixed = '[{"a":'.repeat(levels) + '[]' + '}]'.repeat(levels);
      for (const text of [nested(levels), nestedObjects(levels, '1'), mixed])
        expect(isTooDeep(text), text.slice(0, 10)).to.equal(true);
      for (const [text, position] of [
        ['['.repeat(levels), levels],
        [`${nested(levels)}]`, 2 * levels],
        ['[{"a":'.repeat(levels) + '}'.repeat(levels), 6 * levels],
      ] as const)
        expect(syntaxError(text).message).to.match(new RegExp(` position ${position}$`));
    });
  });

  describe('on duplicate members', () => {
    it('reports each repetition as a JSON pointer (RFC 6901), in the order of the text', () => {
      expect(duplicates('{"a":1,"b":2,"a":1,"b":3,"a":4}')).to.deep.equal(['/a', '/b', '/a']);
      expect(duplicates('{"x":[0,{"y":{"":1,"":2}}]}')).to.deep.equal(['/x/1/y/']);
      expect(duplicates('[{"m/n~o":1,"m/n~o":1}]')).to.deep.equal(['/0/m~1n~0o']);
      expect(duplicates('{"a":{"b":1,"b":2},"c":{"b":1},"a":3}')).to.deep.equal(['/a/b', '/a']);
    });

    it('reports 16 at most', () => {
      expect(duplicates(repeated(16))).to.have.lengthOf(15);
      expect(duplicates(repeated(17))).to.have.lengthOf(16);
      expect(duplicates(repeated(20_000))).to.have.lengthOf(16);
    });
  });

  it('makes own properties of inherited names, and changes no prototype', () => {
    const text =
      '{"__proto__":{"admin":true},"constructor":1,"toString":2,"a":{"\\u005f_proto__":null}}';
    const value = read(text);

    assert.deepEqual(value, JSON.parse(text));
    expect(Object.keys(Object(value))).to.deep.equal(['__proto__', 'constructor', 'toString', 'a']);
    expect(Object.getPrototypeOf(readJson(text).value)).to.equal(Object.prototype);
    expect(
      Object.getOwnPropertyDescriptor(readJson('{"toString":null}').value, 'toString'),
    ).to.deep.equal({
      value: null,
      writable: true,
      enumerable: true,
      configurable: true,
    });
    expect({}).not.to.have.property('admin');
  });

  it('never calls a setter of Object.prototype', () => {
    const polluted: object = Object.prototype;
    Object.defineProperty(polluted, 'planted', {
      configurable: true,
      set() {
        expect.fail('called');
      },
    });
    try {
      expect(Object.entries(Object(read('{"planted":1}')))).to.deep.equal([['planted', 1]]);
    } finally {
      Reflect.deleteProperty(polluted, 'planted');
    }
  });
});

const toInt64 = (text: string): bigint | undefined => new JsonNumber(text).toInt64();

describe('JsonNumber', () => {
  const many = '9'.repeat(5000);
  const most = '0'.repeat(100_000);

  it('is exact with long runs of zeros', () => {
    expect(toInt64(`1${most}e-${most.length}`)).to.equal(1n);
    expect(toInt64(`-1${most}.${most}e-${most.length}`)).to.equal(-1n);
    expect(toInt64(`0.${most}123e${most.length + 3}`)).to.equal(123n);
    expect(toInt64(`0.${most}123e${most.length + 2}`)).to.equal(undefined);
    expect(toInt64(`1${most}1e-${most.length}`)).to.equal(undefined);
    expect(toInt64(`0.${most}e5`)).to.equal(0n);
    expect(toInt64(`7e${most}2`)).to.equal(700n);
    expect(toInt64(`7e-${most}`)).to.equal(7n);
  });

  it('decides within a second of processor time, however large the exponent is and however long the digits are', () => {
    const texts = [
      '1e999999999',
      '-1e-999999999',
      `1e${many}`,
      `1e-${many}`,
      `0e${many}`,
      `0.${most}1e${many}`,
      '9'.repeat(1_000_000),
      `0.${most}1${most}`,
    ];

    for (const text of texts) {
      const number = new JsonNumber(text);
      const start = process.cpuUsage();
      expect(number.toInt64()).to.equal(text.startsWith('0e') ? 0n : undefined);
      expect(process.cpuUsage(start).user, text.slice(0, 20)).to.be.below(1_000_000);
    }
  });

  it('agrees with the arithmetic of bigints', () => {
    const whole = fc.oneof(fc.bigInt(-200n, 200n), fc.bigInt(INT64_MIN, INT64_MAX));
    const zeros = fc.nat(25).map((count) => '0'.repeat(count));
    const fraction = fc.oneof(zeros, fc.stringMatching(/^[0-9]{0,25}$/));
    const exponent = fc.integer({ min: -25, max: 25 });
    const one = 10n ** 50n;

    fc.assert(
      fc.property(whole, fraction, exponent, (units, decimals, power) => {
        const text = decimals === '' ? `${units}` : `${units}.${decimals}`;
        const scaled = BigInt(`${units}${decimals}`) * 10n ** BigInt(50 + power - decimals.length);
        const integer = scaled / one;
        const isInt64 = integer * one === scaled && BigInt.asIntN(64, integer) === integer;
        expect(toInt64(`${text}e${power}`)).to.equal(isInt64 ? integer : undefined);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('parseJson', () => {
  it('rejects what is not a string by a TypeError', () => {
    const untyped: (text: unknown) => unknown = parseJson as (text: unknown) => unknown;
    for (const given of [Buffer.from('7'), 7, undefined]) {
      const message = `JSON is read from a string, not ${typeof given}`;
      assert.throws(() => untyped(given), { name: 'TypeError', message });
    }
  });

  it('reads integers in int64 as bigints, and other numbers as JSON.parse does', () => {
    assert.deepEqual(
      parseJson(
        '[0,-0,7,7.0,7e2,9223372036854775807,-9223372036854775808,1.5,9223372036854775808,1e400,-1e-400]',
      ),
      [0n, 0n, 7n, 7n, 700n, INT64_MAX, INT64_MIN, 1.5, 9223372036854775808, Infinity, -0],
    );
    assert.deepEqual(
      parseJson(
        '[9.223372036854775807e18,-92233720368547758080e-1,-9223372036854775809,9223372036854775807.5]',
      ),
      [INT64_MAX, INT64_MIN, -(2 ** 63), 2 ** 63],
    );
  });

  it('refuses a repeated member, and names it', () => {
    const { message } = syntaxError('{"pets":[{"id":1,"id":1}],"pets":0}', parseJson);
    expect(message).to.equal('Member /pets/0/id is repeated');
  });

  it('reads at any depth', () => {
    let value = parseJson(nested(50_000));
    let depth = 0;
    for (; Array.isArray(value); depth += 1) [value] = value;

    expect(depth).to.equal(50_000);
  });
});

describe('stringifyJson', () => {
  it('says what an old runtime lacks', async () => {
    const descriptor = Object.getOwnPropertyDescriptor(JSON, 'rawJSON');
    Reflect.deleteProperty(JSON, 'rawJSON');
    try {
      const url = `${import.meta.resolve('../../src/exact-json.js')}?old`;
      const old: typeof ExactJson = await import(url);
      expect(old.stringifyJson({ name: 'Fido' })).to.equal('{"name":"Fido"}');
      expect(() => old.stringifyJson({ id: 1n })).to.throw('This runtime lacks JSON.rawJSON');
    } finally {
      Object.defineProperty(JSON, 'rawJSON', descriptor ?? {});
    }
  });

  it('writes every int64 to the digit', () => {
    fc.assert(
      fc.property(fc.bigInt(INT64_MIN, INT64_MAX), (value) => {
        expect(stringifyJson(value)).to.equal(value.toString());
        expect(parseJson(stringifyJson(value))).to.equal(value);
        assert.deepEqual(parseJson(stringifyJson({ a: [value] })), { a: [value] });
      }),
    );
  });

  it('refuses a bigint outside int64, and numbers that JSON does not have', () => {
    for (const value of [INT64_MAX + 1n, INT64_MIN - 1n, 10n ** 400n]) {
      expect(() => stringifyJson({ a: [value] })).to.throw(RangeError, 'outside int64');
    }
    for (const value of [NaN, -Infinity])
      expect(() => stringifyJson({ a: [value] })).to.throw(RangeError);
  });

  it('writes and refuses what is in the objects around numbers and bigints as if it was alone', () => {
    for (const value of [NaN, Infinity, INT64_MAX + 1n, INT64_MIN - 1n])
      expect(() => stringifyJson({ a: Object(value) }), `${value}`).to.throw(RangeError);
    for (const value of [7, -0, 1.5, INT64_MAX, INT64_MIN, 'text', '', true, false]) {
      expect(stringifyJson(Object(value))).to.equal(stringifyJson(value));
      expect(stringifyJson({ a: [Object(value)] })).to.equal(stringifyJson({ a: [value] }));
      const later = { toJSON: (): unknown => Object(value) };
      expect(stringifyJson([later])).to.equal(stringifyJson([value]));
    }
  });

  it('writes a number that was read in its own spelling', () => {
    const text = '{"a":[7.0,1e400,-0,123456789012345678901234567890.5]}';

    expect(stringifyJson(readJson(text).value)).to.equal(text);
    expect(stringifyJson(new JsonNumber('1E+2'))).to.equal('1E+2');
  });

  it('writes bigints as integers even if BigInt.prototype has a toJSON', () => {
    const patched: object = BigInt.prototype;
    Object.defineProperty(patched, 'toJSON', { configurable: true, value: () => 'text' });
    try {
      expect(stringifyJson([7n, { a: 8n }])).to.equal('[7,{"a":8}]');
      expect(stringifyJson(9n)).to.equal('9');
    } finally {
      Reflect.deleteProperty(patched, 'toJSON');
    }
  });

  it('is JSON.stringify for everything else', () => {
    const date = new Date(0);
    const hollow = Array<unknown>(2);
    const symbol = Symbol('s');
    const values = [
      { a: undefined, b: () => 1, [symbol]: 1, c: symbol, d: 1, 2: 2, 1: 1 },
      [undefined, () => 1, symbol, null],
      hollow,
      { date, own: { toJSON: (name: string) => ({ name }) } },
      Object.create(
        { inherited: 1 },
        { own: { value: 2, enumerable: true }, hidden: { value: 3 } },
      ),
      ['\u0000\u001f"\\/\u007f\u2028', '\ud800', '\udc08x', '🐈'],
      [0, -0, 1.5, 1e21, 5e-324, true, false, null, ''],
      new Map([[1, 2]]),
      {},
      [],
    ];

    for (const value of values) {
      expect(stringifyJson(value)).to.equal(JSON.stringify(value));
      expect(stringifyJson(value, 2)).to.equal(JSON.stringify(value, undefined, 2));
      expect(stringifyJson(value, '\t')).to.equal(JSON.stringify(value, undefined, '\t'));
    }
  });

  it('refuses a circular value', () => {
    const circular: unknown[] = [];
    circular.push({ circular });

    expect(() => stringifyJson(circular)).to.throw(TypeError);
  });

  it('refuses what JSON cannot express', () => {
    for (const value of [undefined, () => 1, Symbol('s'), { toJSON: () => undefined }]) {
      expect(() => stringifyJson(value)).to.throw(TypeError, 'JSON has no value of type');
    }
  });
});

const numberText = (value: unknown): unknown =>
  isLosslessNumber(value) ? { number: value.value } : value;

const space = fc.stringMatching(/^[ \t\n\r]{0,2}$/);
const number = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?$/),
  fc.integer().map(String),
);
const piece = fc.oneof(
  fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text).slice(1, -1)),
  fc.stringMatching(/^\\["\\/bfnrt]$|^\\u(?:00[0-7]|[dD][89a-fA-F][0-9a-fA-F])[0-9a-fA-F]$/),
  fc.constantFrom('', '__proto__', 'constructor', 'a', 'b', 'a name longer than most', '\ud83d'),
);
const string = fc.array(piece, { maxLength: 3 }).map((pieces) => `"${pieces.join('')}"`);

/** JSON texts with every spelling that the grammar allows, duplicate members among them. */
const jsonText: fc.Arbitrary<string> = fc.letrec<{ text: string; value: string; member: string }>(
  (tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      { weight: 1, arbitrary: fc.oneof(fc.constantFrom('null', 'true', 'false'), number, string) },
      {
        weight: 1,
        arbitrary: fc.array(tie('text'), { maxLength: 4 }).map((values) => `[${values.join(',')}]`),
      },
      {
        weight: 1,
        arbitrary: fc
          .array(tie('member'), { maxLength: 4 })
          .map((members) => `{${members.join(',')}}`),
      },
      {
        weight: 1,
        arbitrary: space.chain((inside) => fc.constantFrom(`[${inside}]`, `{${inside}}`)),
      },
    ),
    text: fc.tuple(space, tie('value'), space).map((parts) => parts.join('')),
    member: fc
      .tuple(space, string, space, fc.constant(':'), tie('text'))
      .map((parts) => parts.join('')),
  }),
).text;

type Alteration = readonly [place: number, how: string, character: string];

function alter(text: string, [place, how, character]: Alteration): string {
  const at = place % (text.length + 1);
  const before = text.slice(0, at);
  const after = text.slice(at);
  if (how === 'cut') return before;
  if (how === 'delete') return before + after.slice(1);
  if (how === 'insert') return before + character + after;
  if (how === 'replace') return before + character + after.slice(1);
  return before + after + after;
}

describe('exact JSON against other readers', () => {
  it('writes what JSON.stringify writes, and reads it back to the character', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        assert.equal(stringifyJson(value), text);
        const again = readJson(text, Infinity);
        assert.equal(stringifyJson(again.value), text);
        assert.deepEqual(again.duplicates, []);
      }),
      { numRuns: 1000 },
    );
  });

  it('reads the values that lossless-json reads, numbers to the character', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        fc.pre(readJson(text, Infinity).duplicates.length === 0);
        assert.deepEqual(
          read(text, (source) => ({ number: source })),
          parseLossless(text, (_name, value) => numberText(value)),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('reports duplicates exactly where names repeat', () => {
    fc.assert(
      fc.property(fc.array(string, { maxLength: 12 }), (names) => {
        const unescaped = names.map((name) => String(JSON.parse(name)));
        const again = unescaped.filter((name, index) => unescaped.indexOf(name) < index);
        const text = `{${names.map((name) => `${name}:0`).join(',')}}`;
        expect(readJson(text).duplicates).to.deep.equal(
          again.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
        );
        expect(accepts(parseJson, text)).to.equal(again.length === 0);
      }),
    );
  });

  const suite = process.env['JSON_TEST_SUITE'];
  if (suite) {
    it('decides the parsing cases of nst/JSONTestSuite, whose folder JSON_TEST_SUITE names, as JSON.parse does', () => {
      // As the HTTP interface decodes a body: a byte order mark stays, and is no JSON.
      const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
      const files = readdirSync(suite).filter((file) => /^[yni]_.*\.json$/.test(file));
      expect(files, 'parsing cases').to.have.length(318);
      for (const file of files) {
        const text = decoder.decode(readFileSync(join(suite, file)));
        expect(accepts(readJson, text), file).to.equal(accepts(JSON.parse, text, SyntaxError));
      }
    });
  }

  it('accepts a text that was cut or altered exactly when JSON.parse does', () => {
    const alphabet = fc.constantFrom(
      ...'{}[]:,"\\/ \t\n\r0123456789+-.eEtrufalsn\u0000\u000b\u00a0\ufeff\ud83dx'.split(''),
    );
    const alteration = fc.tuple(
      fc.nat(),
      fc.constantFrom('cut', 'delete', 'insert', 'replace', 'repeat'),
      alphabet,
    );
    fc.assert(
      fc.property(
        jsonText,
        fc.array(alteration, { minLength: 1, maxLength: 3 }),
        (text, alterations) => {
          const altered = alterations.reduce(alter, text);
          const expected = accepts(JSON.parse, altered, SyntaxError);
          assert.equal(accepts(readJson, altered), expected);
          assert.equal(
            accepts((deep) => readJson(deep, 1), altered),
            expected,
          );
        },
      ),
      { numRuns: 2000 },
    );
  });
});
