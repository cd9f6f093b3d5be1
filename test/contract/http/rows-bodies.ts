import { words } from '../samples.js';
import {
  CREATED,
  JSON_CONTENT,
  PET,
  bare,
  bearer,
  by,
  error,
  get,
  ok,
  post,
  postAs,
  row,
  send,
  type Expectation,
  type Header,
  type RowRequest,
} from './request-row.js';

const MALFORMED: Expectation = error('malformed_json');
const MISSING: Expectation = error('missing_body');

const invalid = (message: RegExp): Expectation => error('invalid_pet', { message });

/** `n` brackets around a value, in an unknown member: `n + 1` levels with those of the animal. */
const nested = (n: number): string =>
  `{"name":"Bella","categoryId":7,"x":${'['.repeat(n)}1${']'.repeat(n)}}`;

const bytes = (...parts: ReadonlyArray<string | number>): Uint8Array =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))),
  );

const IGNORED: ReadonlyArray<readonly [what: string, members: string]> = [
  ['an id', '"id":1'],
  ['unknown members', '"_id":{"$oid":"0"},"price":9.99,"tags":["x",{"y":null}],"":1'],
  ['__proto__', '"__proto__":{"status":"sold","isAdmin":true}'],
  ['fields in other spellings', '"Name":"x","categoryid":1.5,"STATUS":"gone","category_id":"x"'],
  ['numbers of any size', '"x":1e999999999,"y":123456789012345678901234567890'],
  ['lone surrogates and U+0000 in unknown members', '"x":"\\ud83d","\\u0000":1'],
];

/** The name of a member as JSON text, its first letter escaped. */
export const escaped = (member: string): string =>
  `"\\u00${member.charCodeAt(0).toString(16)}${member.slice(1)}"`;

const TWICE: ReadonlyArray<readonly [member: string, body: string, how?: string]> = [
  ['name', '{"name":"a","name":"b","categoryId":7}'],
  ['name', `{"name":"a","categoryId":7,${escaped('name')}:"a"}`, ', once escaped'],
  ['x', '{"name":"a","categoryId":7,"x":1,"x":1}', ', which is unknown'],
  ['a', '{"name":"a","categoryId":7,"x":[0,{"b":{},"a":1,"\\u0061":2}]}', ', deep inside'],
  ['__proto__', '{"name":"a","categoryId":7,"__proto__":1,"__proto__":2}', ', whatever its name'],
];

/** The structure of a JSON body. */
const structure = [
  row('says where a new animal is', post(PET), {
    ...CREATED,
    headers: { Location: /^{{base}}\/pets\/[1-9]\d*$/ },
    staysOpen: true,
  }),
  row(
    'says where a new animal is by the public address',
    post(PET),
    { ...CREATED, headers: { Location: /^https:\/\/animals\.example\/shop\/v1\/pets\/[1-9]\d*$/ } },
    { given: 'publicUrl' },
  ),
  row(
    'accepts members in any order, escaped, and with white space around them',
    post(` \t\r\n{ "status" : "available" ,\n${escaped('categoryId')} : 7 , "name":"Bella"\r}\n`),
    CREATED,
  ),
  row(
    'ignores the query of createPet',
    { ...post(PET), target: '{{base}}/pets?limit=0&status=gone&after=x' },
    CREATED,
  ),
  ...IGNORED.map(([what, members]) =>
    row(
      `ignores ${what} in a body, and returns nothing of it`,
      post(`{${members},"name":"Bella","categoryId":7}`),
      CREATED,
    ),
  ),
  row(
    'does not take the fields of an animal from __proto__',
    post('{"__proto__":{"name":"Bella","categoryId":7}}'),
    invalid(/^(?=.*name is required)(?=.*categoryId is required)/),
  ),
  ...TWICE.map(([member, body, how = '']) =>
    row(
      `refuses a second member ${member}${how}`,
      post(body),
      invalid(new RegExp(`${member}.* twice`)),
    ),
  ),
  row('accepts an unknown member that is 16 levels deep', post(nested(15)), CREATED),
  row('refuses a body that is 17 levels deep', post(nested(16)), invalid(/deeper than 16/)),
  row('refuses a body that is 30,000 levels deep', post(nested(30_000)), {
    ...invalid(/deeper than 16/),
    within: 1000,
  }),
  ...['[]', '[{"name":"Bella","categoryId":7}]', 'null', 'true', '1e999999999', '"{}"'].map(
    (body) =>
      row(
        `refuses a body of ${body}, which is JSON but not an object`,
        post(body),
        invalid(/must be a JSON object/),
      ),
  ),
];

const NOT_JSON: ReadonlyArray<readonly [what: string, body: string | Uint8Array]> = [
  ['of white space only', ' \r\n\t '],
  ['that ends early', '{"name":"Bella","categoryId":7'],
  ['with a fault in an unknown member', '{"name":"Bella","categoryId":7,"x":[1,]}'],
  [
    'with a fault below 16 levels',
    `{"name":"a","categoryId":7,"x":${'['.repeat(30)}01${']'.repeat(30)}}`,
  ],
  ['in UTF-16', Buffer.from(PET, 'utf16le')],
  ['that is compressed without saying so', bytes(0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0)],
  ['that ends within a character', bytes(PET, 0xc3)],
  ['with Latin-1 in its name', bytes('{"name":"a', 0xe9, '","categoryId":7}')],
];

/** Characters that no editor shows, or that look like others. */
const INVISIBLE: ReadonlyArray<readonly [what: string, body: string, code: string]> = [
  ['that begins with a byte order mark', `\ufeff${PET}`, 'U\\+FEFF, a byte order mark'],
  ['with a byte order mark inside', `{\ufeff"name":"a","categoryId":7}`, 'U\\+FEFF'],
  ['with a no-break space', `{"name":\u00a0"a","categoryId":7}`, 'U\\+00A0'],
  ['with a zero width space at its end', `${PET}\u200b`, 'U\\+200B'],
  ['with typographic quotes', `{\u201cname\u201d:"a","categoryId":7}`, 'U\\+201C'],
];

const NO_BODY: ReadonlyArray<readonly [what: string, request: RowRequest]> = [
  ['no body', send('POST', '/pets', JSON_CONTENT)],
  ['a body of no bytes', post('')],
  ['a body of no chunks', { ...post(''), chunked: true }],
  ['a body of no bytes without a Content-Type', { ...send('POST', '/pets'), body: '' }],
];

/** Request bodies: their syntax and structure. */
export const BODIES = [
  ...structure,
  ...NOT_JSON.map(([what, body]) =>
    row(`refuses a body ${what} as malformed`, post(body), MALFORMED),
  ),
  ...INVISIBLE.map(([what, body, code]) =>
    row(
      `refuses a body ${what}, and names the character`,
      post(body),
      error('malformed_json', { message: new RegExp(code) }),
    ),
  ),
  ...NO_BODY.map(([what, request]) =>
    row(`refuses a create with ${what}, and keeps the connection open`, request, {
      ...MISSING,
      staysOpen: true,
    }),
  ),
  row('keeps the connection open after an animal that is refused', post('{}'), {
    ...invalid(/name/),
    staysOpen: true,
  }),
];

const UNSUPPORTED_TYPE: Expectation = error('unsupported_media_type', {
  message: /Content-Type: application\/json/,
  headers: { Accept: 'application/json' },
});
const UNSUPPORTED_ENCODING: Expectation = error('unsupported_media_type', {
  message: /Content-Encoding/,
  headers: { 'Accept-Encoding': 'identity' },
});
const TOO_LARGE: Expectation = error('payload_too_large');

const LIMIT = 64 * 1024;
const EIGHT_MB = 8 * 1024 * 1024;
/** A valid animal of this many bytes, most of them white space. */
const padded = (size: number): string => PET.padEnd(size, ' ');
const inChunks = (request: RowRequest): RowRequest => ({ ...request, chunked: true });

const encodedAs = (encoding: string): RowRequest => post(PET, ['Content-Encoding', encoding]);

const SIZES = [
  row('accepts a body of exactly 64 KiB', post(padded(LIMIT)), CREATED),
  row('refuses a body of one byte more than 64 KiB', post(padded(LIMIT + 1)), TOO_LARGE),
  row(
    'refuses a body of one byte more than 64 KiB in chunks',
    inChunks(post(padded(LIMIT + 1))),
    TOO_LARGE,
  ),
  row('refuses a body of 8 MiB, and the response still arrives', post(padded(EIGHT_MB)), TOO_LARGE),
  row(
    'refuses a body of 8 MiB without a key, and the response still arrives',
    by(undefined, post(padded(EIGHT_MB))),
    error('missing_api_key'),
  ),
];

const EXPECTS = 'only what listens handles expectations';
const EXPECT: Header = ['Expect', '100-continue'];

/** What a client that waits for "100 Continue" gets instead of it. */
const NOT_CONTINUED: ReadonlyArray<
  readonly [what: string, headers: readonly Header[], expect: Expectation]
> = [
  ['without a key', [JSON_CONTENT], error('missing_api_key')],
  ['of another type', [bearer(), ['Content-Type', 'text/plain']], UNSUPPORTED_TYPE],
  ['that is too large', [bearer(), JSON_CONTENT, ['Content-Length', '262145']], TOO_LARGE],
  [
    'of more than an int32 can say',
    [bearer(), JSON_CONTENT, ['Content-Length', '2147483648']],
    TOO_LARGE,
  ],
  ['by a key that may only read', [bearer('{{readOnlyKey}}')], error('insufficient_scope')],
];

/** The headers of a body: type, encoding, size and expectation. */
export const BODY_HEADERS = [
  row(
    'reads a body without a Content-Type as JSON',
    { ...send('POST', '/pets'), body: PET },
    CREATED,
  ),
  ...[
    'Application/JSON',
    'APPLICATION/JSON; CHARSET=UTF-8',
    'application/json ; charset="UTF-8"',
    'application/json; a="b; charset=latin1"; version=1',
    'application/json;',
  ].map((type) => row(`accepts a body of type ${type}`, postAs(type), CREATED)),
  ...words(
    'application/x-www-form-urlencoded text/plain text/json application/vnd.api+json application/jsonx */* json',
  ).map((type) =>
    row(
      `refuses a body of type ${type}, and names the header to send`,
      postAs(type),
      UNSUPPORTED_TYPE,
    ),
  ),
  row('refuses a body of another type in chunks', inChunks(postAs('text/plain')), UNSUPPORTED_TYPE),
  row(
    'refuses a body of two types',
    { ...send('POST', '/pets', JSON_CONTENT, ['Content-Type', 'text/plain']), body: PET },
    UNSUPPORTED_TYPE,
  ),
  ...['latin1', 'utf-16', 'us-ascii', 'bogus', '""'].map((charset) =>
    row(
      `refuses the charset ${charset} as malformed`,
      postAs(`application/json; charset=${charset}`),
      MALFORMED,
    ),
  ),
  row(
    'refuses a charset between quoted parameters as malformed',
    postAs('application/json; a="b"; charset=latin1; c="d"'),
    MALFORMED,
  ),
  row(
    'refuses a CHARSET in capitals as malformed',
    postAs('application/json; CHARSET=latin1'),
    MALFORMED,
  ),
  ...['Identity', '', ' , ', 'identity,', ',identity , IDENTITY'].map((encoding) =>
    row(`accepts a body of the encoding [${encoding}]`, encodedAs(encoding), CREATED),
  ),
  ...['gzip', 'br', 'bogus', 'identity, gzip', ',gzip', 'identity gzip'].map((encoding) =>
    row(`refuses a body of the encoding ${encoding}`, encodedAs(encoding), UNSUPPORTED_ENCODING),
  ),
  ...SIZES,
  row('accepts a body as large as the settings allow', post(padded(100)), CREATED, {
    given: 'smallBodies',
  }),
  row(
    'refuses a body one byte larger than the settings allow',
    post(padded(101)),
    { ...TOO_LARGE, message: /100 bytes/ },
    { given: 'smallBodies' },
  ),
  ...(
    [
      ['without a key', '', error('missing_api_key')],
      ['with a key', 'Authorization: Bearer {{key}}\r\n', TOO_LARGE],
      [
        'of another type',
        'Authorization: Bearer {{key}}\r\nContent-Type: text/plain\r\n',
        UNSUPPORTED_TYPE,
      ],
    ] as const
  ).map(([what, headers, expect]) =>
    row(
      `answers ${expect.status} to a body of 1 GB ${what} before any of it is sent`,
      {
        raw: `POST {{base}}/pets HTTP/1.1\r\nHost: {{host}}\r\nContent-Length: 1000000000\r\n${headers}\r\n`,
      },
      { ...expect, closes: true },
      { socketOnly: 'a client sends the body that it announces' },
    ),
  ),
  row(
    'tells a client to continue once the body is wanted',
    { ...post(PET, ['Expect', '100-Continue']), awaitsContinue: true },
    { ...CREATED, interim: [100] },
    { socketOnly: EXPECTS },
  ),
  row(
    'accepts a body whose client did not wait to be told to continue',
    post(PET, EXPECT),
    { ...CREATED, interim: 'any' },
    { socketOnly: EXPECTS },
  ),
  ...NOT_CONTINUED.map(([what, headers, expect]) =>
    row(
      `answers ${expect.status} to a body ${what} without telling the client to send it`,
      { ...bare('POST', '{{base}}/pets', ...headers, EXPECT), body: PET, awaitsContinue: true },
      { ...expect, closes: true },
      { socketOnly: EXPECTS },
    ),
  ),
  row(
    'answers 415 to a body of another type in chunks without telling the client to send it',
    inChunks({
      ...send('POST', '/pets', ['Content-Type', 'text/plain'], EXPECT),
      body: PET,
      awaitsContinue: true,
    }),
    { ...UNSUPPORTED_TYPE, closes: true },
    { socketOnly: EXPECTS },
  ),
  row(
    'serves a GET that expects to be told to continue, though it has no body',
    get('/pets?limit=1', EXPECT),
    { status: 200, interim: 'any' },
    { socketOnly: EXPECTS },
  ),
  ...['100-continue, ', ', 100-continue', '100-continue,,100-continue'].map((value) =>
    row(
      `ignores the empty members of Expect: ${value}`,
      { ...post(PET, ['Expect', value]), awaitsContinue: true },
      { ...CREATED, interim: [100] },
      { socketOnly: EXPECTS },
    ),
  ),
  row('expects nothing of an Expect without members', post(PET, ['Expect', ', ,']), CREATED, {
    socketOnly: EXPECTS,
  }),
  ...[post(PET, ['Expect', '100-continue, foo']), get('/pets', ['Expect', 'foo'])].map((request) =>
    row(
      `answers 417 to another expectation of ${request.method}`,
      { ...request, headers: [...request.headers, ['X-Request-Id', 'expecting']] },
      error('expectation_failed', { headers: { 'X-Request-Id': 'expecting' }, closes: true }),
      { socketOnly: EXPECTS },
    ),
  ),
];

const key = (value: string): Header => ['Idempotency-Key', value];

/** Each key is used once: the service remembers it for the whole suite. */
const VALID_KEYS: ReadonlyArray<readonly [what: string, key: string]> = [
  ['of one character', 'a'],
  ['of 255 characters', 'k'.repeat(255)],
  [
    'with every allowed character',
    "!#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~",
  ],
];

const INVALID_KEYS: ReadonlyArray<readonly [what: string, ...keys: string[]]> = [
  ['that is empty', ''],
  ['of 256 characters', 'k'.repeat(256)],
  ['with a space', 'one two'],
  ['with a quote inside', 'o"ne'],
  ['with a backslash', String.raw`o\ne`],
  ['with a letter beyond ASCII', 'cl\u00e9'],
  ['with a parameter', '"one"; a=1'],
  ['that is sent twice', 'one', 'one'],
];

/** The header that makes retries of a create safe. */
export const IDEMPOTENCY = [
  ...VALID_KEYS.map(([what, value]) =>
    row(`adds an animal with an idempotency key ${what}`, post(PET, key(value)), {
      ...CREATED,
      headers: { 'Idempotency-Replayed': null },
    }),
  ),
  ...INVALID_KEYS.map(([what, ...values]) =>
    row(
      `refuses an idempotency key ${what}`,
      post(PET, ...values.map(key)),
      error('invalid_parameter', { message: /Idempotency-Key must be sent once/ }),
    ),
  ),
  row('ignores an idempotency key of a list', get('/pets?limit=1', key('not one')), ok()),
  row(
    'answers 409 while an earlier create with the same key is in progress, and says when to retry',
    post(PET, key('undecided')),
    error('idempotency_conflict', { headers: { 'Retry-After': '3' } }),
    { given: 'storeUndecided' },
  ),
];
