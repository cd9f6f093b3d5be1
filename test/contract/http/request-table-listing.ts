import { get, send, type Expectation, type Row } from './request-row.js';

const invalid = (message: RegExp): Expectation => ({ status: 400, code: 'invalid_parameter', message });

const FIRST = '{"id":{{pet}},"name":"Ada","categoryId":-9223372036854775808,"status":"available"}';

const limits: Row[] = [
  ...['1', '9', '20', '99', '100', '%31', '%32%30'].map((limit): Row => ({
    name: `takes a limit of ${limit}`,
    request: get(`/pets?limit=${limit}`),
    expect: { status: 200 },
  })),
  ...[
    '0',
    '101',
    '-1',
    'abc',
    '',
    '1.5',
    '+5',
    '%2B5',
    '05',
    '00',
    '1.0',
    '1e1',
    '0x10',
    '%205',
    '5%20',
    '-0',
    '1,2',
    '1_0',
    'NaN',
    'null',
    'true',
    'Infinity',
    '5%00',
    '5%0A',
    '%D9%A5',
    '%EF%BC%95',
    '1000',
    '9223372036854775808',
    '%ZZ',
    '[5]',
    '"5"',
    '5;status=sold',
  ].map((limit): Row => ({
    name: `refuses a limit of ${limit === '' ? 'nothing' : limit}`,
    request: get(`/pets?limit=${limit}`),
    expect: invalid(/limit .*1 to 100/),
  })),
  {
    name: 'refuses a limit without an equals sign',
    request: get('/pets?limit'),
    expect: invalid(/limit/),
  },
  {
    name: 'refuses a limit given twice',
    request: get('/pets?limit=5&limit=6'),
    expect: invalid(/limit .*once/),
  },
  {
    name: 'refuses a limit given twice the same',
    request: get('/pets?limit=5&limit=5'),
    expect: invalid(/limit/),
  },
  {
    name: 'refuses a limit given twice, once with its name percent-encoded',
    request: get('/pets?limit=5&%6Cimit=5'),
    expect: invalid(/limit/),
  },
];

const statuses: Row[] = [
  ...['available', 'pending', 'sold', '%73old'].map((status): Row => ({
    name: `takes a status of ${status} as a filter`,
    request: get(`/pets?status=${status}`),
    expect: { status: 200 },
  })),
  ...[
    '',
    'unknown',
    'Available',
    'SOLD',
    '%20sold',
    'sold%20',
    'sold%00',
    'available,sold',
    'available%7Csold',

    'null',
    'undefined',
    '*',
    '0',
    'true',
    '__proto__',
    'toString',
    '%EF%BD%93old',
    'avail',
    '[sold]',
    '"sold"',
    '%27%20OR%201=1',
    '%7B%22$ne%22:null%7D',
  ].map((status): Row => ({
    name: `refuses a status of ${status === '' ? 'nothing' : status} as a filter`,
    request: get(`/pets?status=${status}`),
    expect: invalid(/status .*available, pending, sold/),
  })),
  {
    name: 'refuses a status given twice',
    request: get('/pets?status=sold&status=pending'),
    expect: invalid(/status .*once/),
  },
  {
    name: 'refuses a status given twice the same',
    request: get('/pets?status=sold&status=sold'),
    expect: invalid(/status/),
  },
  {
    name: 'names every parameter that is wrong',
    request: get('/pets?status=gone&limit=0&cursor=a&cursor=b'),
    expect: invalid(/^(?=.*limit)(?=.*status)(?=.*cursor)/),
  },
];

const invalidCursor: Expectation = { status: 400, code: 'invalid_cursor' };

const cursors: Row[] = [
  {
    name: 'takes a cursor as it was given',
    request: get('/pets?limit=1&cursor={{cursor}}'),
    expect: { status: 200 },
  },
  {
    name: 'takes a cursor with another limit',
    request: get('/pets?limit=57&cursor={{cursor}}'),
    expect: { status: 200 },
  },
  {
    name: 'takes a cursor without the limit',
    request: get('/pets?cursor={{cursor}}'),
    expect: { status: 200 },
  },
  {
    name: 'takes a cursor of a filtered list with the filter',
    request: get('/pets?status=sold&cursor={{soldCursor}}'),
    expect: { status: 200 },
  },
  {
    name: 'takes a cursor in a HEAD',
    request: send('HEAD', '/pets?cursor={{cursor}}'),
    expect: { status: 200 },
  },
  ...(
    [
      ['of a filtered list without the filter', '{{soldCursor}}'],
      ['of a filtered list with another filter', '{{soldCursor}}&status=pending'],
      ['of the whole list with a filter', '{{cursor}}&status=available'],
      ['that is empty', ''],
      ['with a character more', '{{cursor}}0'],
      ['with a character before it', '0{{cursor}}'],
      ['with a space behind it', '{{cursor}}%20'],
      ['with a line feed behind it', '{{cursor}}%0A'],
      ['with padding behind it', '{{cursor}}='],
      ['with U+0000 behind it', '{{cursor}}%00'],
      ['given twice over in one value', '{{cursor}}{{cursor}}'],
      ['that is an identifier', '1'],
      ['that is a word', 'next'],
      ['of 8,000 characters', 'a'.repeat(8000)],
      ['that is no percent-encoding', '%ZZ'],
    ] as const
  ).map(([what, cursor]): Row => ({
    name: `refuses a cursor ${what}`,
    request: get(`/pets?cursor=${cursor}`),
    expect: invalidCursor,
  })),
  {
    name: 'refuses a cursor given twice',
    request: get('/pets?cursor={{cursor}}&cursor={{cursor}}'),
    expect: invalid(/cursor .*once/),
  },
  {
    name: 'wants a key with a cursor too',
    request: { method: 'GET', target: '{{base}}/pets?cursor={{cursor}}', headers: [] },
    expect: { status: 401, code: 'missing_api_key' },
  },
];

const link = (query: RegExp): Expectation => ({
  status: 200,
  headers: { Link: new RegExp(`^</v1/pets\\?${query.source}>; rel="next"$`) },
});

const pages: Row[] = [
  {
    name: 'lists animals as a bare array, in ascending order of id',
    request: get('/pets?limit=1'),
    expect: { ...link(/limit=1&cursor=[\w-]+/), body: `[${FIRST}]` },
  },
  {
    name: 'lists animals with HEAD as with GET, without the body',
    request: send('HEAD', '/pets?limit=1'),
    expect: link(/limit=1&cursor=[\w-]+/),
  },
  {
    name: 'repeats the filter in the link to the next page',
    request: get('/pets?status=sold&limit=1'),
    expect: link(/status=sold&limit=1&cursor=[\w-]+/),
  },
  ...['cursor', '%63ursor'].map((cursor): Row => ({
    name: `puts the new cursor in the place of the old one, sent as ${cursor}`,
    request: get(`/pets?${cursor}={{cursor}}&limit=1`),
    expect: link(/limit=1&cursor=(?!{{cursor}})[\w-]+/),
  })),
  {
    name: 'ignores unknown parameters, and repeats them in the link',
    request: get('/pets?utm=a%26b&limit=1&utm=%C3%A9&flag'),
    expect: link(/utm=a%26b&limit=1&utm=%C3%A9&flag=?&cursor=[\w-]+/),
  },
  {
    name: 'repeats an unknown parameter that is no UTF-8 byte for byte',
    request: get('/pets?x=%FF%00&limit=1'),
    expect: link(/x=%FF%00&limit=1&cursor=[\w-]+/),
  },
  {
    name: 'keeps what a parameter holds from ending the link',
    request: get('/pets?x=%3E%3B+rel%3D%22evil%22&limit=1', ['X-Request-Id', 'link']),
    expect: { status: 200, headers: { Link: /^<[^<>"\s]+>; rel="next"$/ } },
  },
  {
    name: 'has no link on the last page',
    request: get('/pets?status=pending&limit=100'),
    expect: { status: 200, headers: { Link: null } },
  },
  {
    name: 'takes the names of parameters as they are, case included',
    request: get('/pets?Limit=0&STATUS=x&Cursor=x&limit[]=0&status[$ne]=sold'),
    expect: { status: 200 },
  },
  { name: 'takes an empty query', request: get('/pets?'), expect: { status: 200 } },
  { name: 'takes a query of separators only', request: get('/pets?&&=&'), expect: { status: 200 } },
  {
    name: 'takes a query of 1,500 unknown parameters',
    request: get(`/pets?${'a&'.repeat(1500)}limit=1`),
    expect: { status: 200 },
  },
  {
    name: 'takes a second question mark for a part of a name',
    request: get('/pets??limit=0&limit=1'),
    expect: link(/\?limit=0&limit=1&cursor=[\w-]+/),
  },
  {
    name: 'takes only the first question mark as the beginning of the query',
    request: get('/pets?x=?limit=0&limit=1'),
    expect: { status: 200 },
  },
  {
    name: 'ignores a body that comes with a list',
    request: { ...get('/pets?limit=1'), body: '{"limit":0}' },
    expect: { status: 200, body: `[${FIRST}]` },
    socketOnly: 'a Request that is a GET has no body',
  },
];

export const LISTING: readonly Row[] = [...limits, ...statuses, ...cursors, ...pages];
