import { expect } from 'chai';
import * as fc from 'fast-check';
import { readPetId, readPetQuery } from '../../../src/adapters/http/request/parameters.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import { InvalidParameterError } from '../../../src/domain/errors.js';

/** The faults of a query, as they are told. */
function faultsOf(query: string): string[] {
  try {
    readPetQuery(query);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidParameterError)) throw error;
    return error.faults.map(({ field, message }) => `${field} ${message}`);
  }
}

const LIMIT = 'limit must be an integer from 1 to 100';
const STATUS = 'status must be one of available, pending, sold';

describe('readPetQuery', () => {
  const READ: ReadonlyArray<readonly [query: string, read: Partial<ReturnType<typeof readPetQuery>>]> = [
    ['limit=1', { limit: 1 }],
    ['limit=100', { limit: 100 }],
    ['limit=%31%30', { limit: 10 }],
    ['status=sold', { status: 'sold' }],
    ['%73tatus=sold', { status: 'sold' }],
    ['cursor=anything%20at+all', { cursor: 'anything at all' }],
    ['cursor=', { cursor: '' }],
    ['status=pending&limit=7&cursor=c', { status: 'pending', limit: 7, cursor: 'c' }],
    ['Limit=0&STATUS=x&limit[]=0&=&a=b&a=c&__proto__=1', {}],
    ['&&', {}],
  ];
  it('reads nothing from nothing', () => {
    expect(readPetQuery('')).to.deep.equal({});
  });
  for (const [query, read] of READ) {
    it(`reads ${query}`, () => {
      expect(readPetQuery(query)).to.deep.equal(read);
    });
  }

  const limits = [
    '0',
    '101',
    '-1',
    'abc',
    '',
    '1.5',
    '+5',
    '05',
    '1e1',
    '0x1',
    '1_0',
    ' 5',
    '5 ',
    '١',
    'NaN',
  ];
  for (const limit of [...limits, '1000000000000000000000']) {
    it(`refuses limit=${JSON.stringify(limit)}`, () => {
      expect(faultsOf(`limit=${encodeURIComponent(limit)}`)).to.deep.equal([LIMIT]);
    });
  }

  for (const status of ['', 'SOLD', 'sold ', 'available,sold', 'null', 'toString', '0']) {
    it(`refuses status=${JSON.stringify(status)}`, () => {
      expect(faultsOf(`status=${encodeURIComponent(status)}`)).to.deep.equal([STATUS]);
    });
  }

  it('refuses what stands twice, be it the same', () => {
    expect(faultsOf('limit=5&limit=5')).to.deep.equal(['limit must be given once']);
    expect(faultsOf('status=sold&a&status=')).to.deep.equal(['status must be given once']);
    expect(faultsOf('cursor=&cursor=')).to.deep.equal(['cursor must be given once']);
  });

  it('names all faults at once', () => {
    expect(faultsOf('cursor=a&status=x&cursor=b&limit=0')).to.deep.equal([
      LIMIT,
      STATUS,
      'cursor must be given once',
    ]);
  });
});

describe('readPetId', () => {
  it('reads every int64 in plain decimal', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: INT64_MIN, max: INT64_MAX }), (id) => readPetId(String(id)) === id),
    );
    expect([INT64_MIN, INT64_MAX].map((id) => readPetId(String(id)))).to.deep.equal([INT64_MIN, INT64_MAX]);
  });

  it('reads digits that are percent-encoded', () => {
    expect(readPetId('%31%32')).to.equal(12n);
  });

  const NONE = [
    '',
    'abc',
    '1.5',
    '0x1',
    '007',
    '+1',
    '-0',
    '1e3',
    '1n',
    ' 1',
    '%201',
    '1%2F2',
    '1%00',
    '%',
    '%zz',
    '%C3',
    '%EF%BC%91',
    '9223372036854775808',
    '-9223372036854775809',
    '9'.repeat(5_000),
  ];
  for (const sent of NONE) {
    it(`finds no int64 in ${JSON.stringify(sent.slice(0, 30))}`, () => {
      expect(readPetId(sent)).to.equal(undefined);
    });
  }
});
