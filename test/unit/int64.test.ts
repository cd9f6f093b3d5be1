import { expect } from 'chai';
import * as fc from 'fast-check';
import { INT64_MAX, INT64_MIN, isInt64, parseInt64, toInt64 } from '../../src/domain/int64.js';

const int64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });

describe('int64', () => {
  it('reaches from -9223372036854775808 to 9223372036854775807', () => {
    expect(String(INT64_MIN)).to.equal('-9223372036854775808');
    expect(String(INT64_MAX)).to.equal('9223372036854775807');
  });

  it('is every bigint of 64 bits, and nothing else', () => {
    for (const value of [0n, -1n, INT64_MIN, INT64_MAX]) expect(isInt64(value), String(value)).to.equal(true);
    for (const value of [INT64_MIN - 1n, INT64_MAX + 1n, 0, 1, '1', null, undefined, {}]) {
      expect(isInt64(value), typeof value).to.equal(false);
    }
  });

  it('is any bigint that keeps its value in 64 bits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }), (value) => {
        expect(isInt64(value)).to.equal(BigInt.asIntN(64, value) === value);
      }),
    );
  });
});

describe('toInt64', () => {
  it('takes safe integers and int64 bigints, -0 as 0', () => {
    expect(toInt64(7)).to.equal(7n);
    expect(toInt64(-0)).to.equal(0n);
    expect(toInt64(Number.MAX_SAFE_INTEGER)).to.equal(2n ** 53n - 1n);
    expect(toInt64(Number.MIN_SAFE_INTEGER)).to.equal(-(2n ** 53n) + 1n);
    expect(toInt64(INT64_MAX)).to.equal(INT64_MAX);
    expect(toInt64(INT64_MIN)).to.equal(INT64_MIN);
  });

  it('takes nothing that has lost digits, is out of range or is of another type', () => {
    const numbers = [2 ** 53, -(2 ** 53), 1.5, NaN, Infinity, -Infinity];
    for (const value of [
      ...numbers,
      INT64_MAX + 1n,
      INT64_MIN - 1n,
      '7',
      '',
      true,
      null,
      undefined,
      [7],
      {},
    ]) {
      expect(toInt64(value), typeof value).to.equal(undefined);
    }
  });
});

describe('parseInt64', () => {
  it('reads back every int64 from its own text', () => {
    fc.assert(fc.property(int64, (value) => parseInt64(String(value)) === value));
    for (const value of [0n, INT64_MIN, INT64_MAX]) expect(parseInt64(String(value))).to.equal(value);
  });

  it('reads only the one spelling that an int64 has', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+]?[0-9]{0,21}$/)), (text) => {
        const value = parseInt64(text);
        if (value !== undefined) expect(String(value)).to.equal(text);
      }),
    );
    const others = [
      '',
      '-',
      '007',
      '+5',
      '-0',
      '-01',
      '1e3',
      '0x1',
      '1.0',
      '1n',
      ' 1',
      '1 ',
      '1\n',
      '1_0',
      '٣',
    ];
    for (const text of [...others, '9223372036854775808', '-9223372036854775809', '1'.repeat(20)]) {
      expect(parseInt64(text), text).to.equal(undefined);
    }
  });

  it('refuses a million digits at once', () => {
    expect(parseInt64('9'.repeat(1_000_000))).to.equal(undefined);
  });
});
