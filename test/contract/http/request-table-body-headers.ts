import {
  JSON_CONTENT,
  PET,
  get,
  post,
  send,
  type Expectation,
  type Header,
  type Row,
} from './request-row.js';

const CREATED: Expectation = {
  status: 201,
  body: '{"id":{{id}},"name":"Bella","categoryId":7,"status":"available"}',
};
const MALFORMED: Expectation = { status: 400, code: 'malformed_json' };
const UNSUPPORTED_TYPE: Expectation = {
  status: 415,
  code: 'unsupported_media_type',
  message: /Content-Type: application\/json/,
  headers: { Accept: 'application/json' },
  closes: true,
};
const UNSUPPORTED_ENCODING: Expectation = {
  status: 415,
  code: 'unsupported_media_type',
  message: /Content-Encoding/,
  headers: { 'Accept-Encoding': 'identity' },
  closes: true,
};
const TOO_LARGE: Expectation = { status: 413, code: 'payload_too_large', closes: true };

const withType = (contentType: string, body: string | Uint8Array = PET): Row['request'] => ({
  ...send('POST', '/pets', ['Content-Type', contentType]),
  body,
});

const mediaTypes: Row[] = [
  {
    name: 'reads a body without a Content-Type as JSON',
    request: { ...send('POST', '/pets'), body: PET },
    expect: CREATED,
  },
  ...[
    'application/json',
    'Application/JSON',
    'APPLICATION/JSON; CHARSET=UTF-8',
    'application/json; charset=utf-8',

    'application/json;charset="utf-8"',
    'application/json ; charset="UTF-8"',
    'application/json; version=1',

    'application/json; a="charset=latin1"',
    'application/json;',
    'application/json; profile="a;b"; charset=utf-8',
  ].map((type): Row => ({
    name: `takes a body of type ${type}`,
    request: withType(type),
    expect: CREATED,
  })),
  ...[
    'application/x-www-form-urlencoded',
    'text/plain',
    'text/json',
    'application/xml',
    'multipart/form-data',

    'application/vnd.api+json',
    'application/problem+json',
    'application/json-patch+json',
    'application/jsonx',

    'application/*',
    '*/*',
    'json',
    'application',
    'application/json, text/plain',
    'application/json text/plain',
    'application/octet-stream',
    'application/ld+json',
    'application/json5',
    'xapplication/json',
  ].map((type): Row => ({
    name: `refuses a body of type ${type}, naming the header to send`,
    request: withType(type),
    expect: UNSUPPORTED_TYPE,
  })),
  {
    name: 'refuses a body of two types',
    request: {
      ...send('POST', '/pets', JSON_CONTENT, ['Content-Type', 'text/plain']),
      body: PET,
    },
    expect: UNSUPPORTED_TYPE,
  },
  ...[
    'latin1',
    'iso-8859-1',
    'utf-16',
    'utf-16le',
    'UTF-32',
    'us-ascii',
    'windows-1252',
    'bogus',
    '"latin1"',
    "'utf-8'",
    'utf-8x',
    '""',
  ].map((charset): Row => ({
    name: `refuses a charset of ${charset} as malformed`,
    request: withType(`application/json; charset=${charset}`),
    expect: MALFORMED,
  })),
  {
    name: 'refuses a charset of utf-16 whose body is in it as malformed',
    request: withType('application/json; charset=utf-16', Buffer.from(PET, 'utf16le')),
    expect: MALFORMED,
  },
  {
    name: 'refuses a charset among other parameters as malformed',
    request: withType('application/json; a=b; Charset = latin1'),
    expect: MALFORMED,
  },
];

const withEncoding = (...encodings: string[]): Row['request'] => ({
  ...post(PET),
  headers: [...post(PET).headers, ...encodings.map((encoding): Header => ['Content-Encoding', encoding])],
});

const encodings: Row[] = [
  ...['identity', 'Identity'].map((encoding): Row => ({
    name: `takes a body of the encoding ${encoding}`,
    request: withEncoding(encoding),
    expect: CREATED,
  })),
  ...[
    'gzip',
    'GZIP',
    'br',
    'deflate',
    'zstd',
    'compress',
    'x-gzip',
    'bogus',
    'gzip, identity',
    'identity, gzip',
  ].map((encoding): Row => ({
    name: `refuses a body of the encoding ${encoding}`,
    request: withEncoding(encoding),
    expect: UNSUPPORTED_ENCODING,
  })),
];

const LIMIT = 256 * 1024;
/** A valid animal of so many bytes: the name is long. */
const ofSize = (size: number): string =>
  `{"name":"${'n'.repeat(size - '{"name":"","categoryId":7}'.length)}","categoryId":7}`;
/** The same, but white space is. */
const padded = (size: number): string => PET.padEnd(size, ' ');

const sizes: Row[] = [
  {
    name: 'takes a body of exactly 256 KiB',
    request: post(ofSize(LIMIT)),
    expect: { status: 201, staysOpen: true },
  },
  {
    name: 'takes a body of exactly 256 KiB in chunks',
    request: { ...post(padded(LIMIT)), chunked: true },
    expect: CREATED,
  },
  {
    name: 'refuses a body of a byte more than 256 KiB',
    request: post(ofSize(LIMIT + 1)),
    expect: TOO_LARGE,
  },
  {
    name: 'refuses a body of a byte more than 256 KiB in chunks',
    request: { ...post(padded(LIMIT + 1)), chunked: true },
    expect: TOO_LARGE,
  },
  {
    name: 'refuses a body of 8 MiB in chunks, and the answer still arrives',
    request: { ...post(padded(8 * 1024 * 1024)), chunked: true },
    expect: TOO_LARGE,
  },
  {
    name: 'refuses a body of 8 MiB, and the answer still arrives',
    request: post(padded(8 * 1024 * 1024)),
    expect: TOO_LARGE,
  },
  {
    name: 'refuses a body of 8 MiB without a key, and the answer still arrives',
    request: {
      method: 'POST',
      target: '{{base}}/pets',
      headers: [JSON_CONTENT],
      body: padded(8 * 1024 * 1024),
    },
    expect: { status: 401, code: 'missing_api_key', closes: true },
  },
  {
    name: 'takes a body as large as the settings allow',
    given: 'smallBodies',
    request: post(padded(100)),
    expect: CREATED,
  },
  {
    name: 'refuses a body a byte larger than the settings allow',
    given: 'smallBodies',
    request: post(padded(101)),
    expect: { ...TOO_LARGE, message: /100 bytes/ },
  },
  ...(
    [
      ['without a key', '', { status: 401, code: 'missing_api_key' }],
      ['with a key', 'Authorization: Bearer {{key}}\r\n', TOO_LARGE],
      [
        'with a key and another type',
        'Authorization: Bearer {{key}}\r\nContent-Type: text/plain\r\n',
        UNSUPPORTED_TYPE,
      ],
    ] as const
  ).map(([what, headers, expect]): Row => ({
    name: `answers ${expect.status} to a body of 1 GB ${what} before any of it was sent`,
    request: {
      raw: `POST {{base}}/pets HTTP/1.1\r\nHost: {{host}}\r\nContent-Length: 1000000000\r\n${headers}\r\n`,
    },
    expect: { ...expect, closes: true },
    socketOnly: 'a client sends the body that it announces',
  })),
];

const continuing: Row[] = [
  {
    name: 'says to continue once the body is wanted',
    request: { ...post(PET, ['Expect', '100-continue']), awaitsContinue: true },
    expect: { ...CREATED, interim: [100] },
    socketOnly: 'whoever listens meets expectations',
  },
  {
    name: 'takes the expectation in any case',
    request: { ...post(PET, ['Expect', '100-Continue']), awaitsContinue: true },
    expect: { ...CREATED, interim: [100] },
    socketOnly: 'whoever listens meets expectations',
  },
  {
    name: 'takes a body whose client did not wait to be told to continue',
    request: post(PET, ['Expect', '100-continue']),
    expect: { ...CREATED, interim: [100] },
    socketOnly: 'whoever listens meets expectations',
  },
  ...(
    [
      ['without a key', [JSON_CONTENT], { status: 401, code: 'missing_api_key' }],
      [
        'of another type',
        [
          ['Authorization', 'Bearer {{key}}'],
          ['Content-Type', 'text/plain'],
        ],
        UNSUPPORTED_TYPE,
      ],
      [
        'that is too large',
        [['Authorization', 'Bearer {{key}}'], JSON_CONTENT, ['Content-Length', '262145']],
        TOO_LARGE,
      ],
      [
        'by a key that may only read',
        [['Authorization', 'Bearer {{readOnlyKey}}'], JSON_CONTENT],
        { status: 403, code: 'insufficient_scope' },
      ],
    ] satisfies ReadonlyArray<readonly [string, readonly Header[], Expectation]>
  ).map(([what, headers, expect]): Row => ({
    name: `answers ${expect.status} to a body ${what} without telling the client to send it`,
    request: {
      method: 'POST',
      target: '{{base}}/pets',
      headers: [...headers, ['Expect', '100-continue']],
      body: PET,
      awaitsContinue: true,
    },
    expect: { ...expect, closes: true },
    socketOnly: 'whoever listens meets expectations',
  })),
  {
    name: 'does not tell a GET without a body to continue',
    request: send('GET', '/pets?limit=1', ['Expect', '100-continue']),
    expect: { status: 200 },
    socketOnly: 'whoever listens meets expectations',
  },
  ...['foo', '200-ok', '100-continue, foo', '100'].map((expectation): Row => ({
    name: `answers 417 to the expectation ${expectation}`,
    request: post(PET, ['Expect', expectation], ['X-Request-Id', 'expecting']),
    expect: {
      status: 417,
      code: 'expectation_failed',
      headers: { 'X-Request-Id': 'expecting' },
      closes: true,
    },
    socketOnly: 'whoever listens meets expectations',
  })),
  {
    name: 'answers 417 to an unknown expectation of a request without a body',
    request: get('/pets', ['Expect', 'foo']),
    expect: { status: 417, code: 'expectation_failed' },
    socketOnly: 'whoever listens meets expectations',
  },
];

/** Bodies by what is said of them: type, encoding, size, and whether they are wanted. */
export const BODY_HEADERS: readonly Row[] = [...mediaTypes, ...encodings, ...sizes, ...continuing];
