import {
  CREATED,
  PET,
  bearer,
  error,
  get,
  ok,
  row,
  type Expectation,
  type Header,
} from './request-row.js';

const BAD: Expectation = error('malformed_request', { closes: true });

const HEAD = 'Host: {{host}}\r\nAuthorization: Bearer {{key}}\r\n';
/** A whole request that adds an animal: a smuggled request must not be executed. */
const ADD = `POST {{base}}/pets HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Length: ${PET.length}\r\n\r\n${PET}`;
/** Without values to fill in, so that its length is known. */
const BARE = 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n';
const LIST = `GET {{base}}/pets?limit=1 HTTP/1.1\r\n${HEAD}\r\n`;

/** A row of bytes. Default: they are refused. */
const raw = (name: string, bytes: string, expect: Expectation = BAD) =>
  row(name, { raw: bytes }, expect, {
    socketOnly: expect.code === BAD.code ? 'no HTTP client sends it' : 'it is about the connection',
  });

const line = (requestLine: string): string => `${requestLine}\r\n${HEAD}\r\n`;

const hostsAndLines = [
  raw('refuses a request without a Host', `GET {{base}}/pets HTTP/1.1\r\n\r\n${ADD}`),
  raw(
    'refuses a request with two Hosts, and keeps its request id',
    `GET {{base}}/pets HTTP/1.1\r\nHost: a\r\nHost: b\r\nX-Request-Id: two-hosts\r\n\r\n${ADD}`,
    { ...BAD, headers: { 'X-Request-Id': 'two-hosts' } },
  ),
  raw('refuses a Host with a user', 'GET {{base}}/pets HTTP/1.1\r\nHost: evil@example\r\n\r\n'),
  raw(
    'refuses an absolute target without a Host',
    'GET http://{{host}}{{base}}/pets HTTP/1.1\r\n\r\n',
  ),
  raw('refuses an HTTP/0.9 line', 'GET {{base}}/pets\r\n\r\n'),
  raw('refuses HTTP/1.2', line('GET {{base}}/pets HTTP/1.2')),
  raw('refuses the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  raw('refuses a method in lower case', line('get {{base}}/pets HTTP/1.1')),
  raw('refuses an unknown method', line('FETCH {{base}}/pets HTTP/1.1')),
  raw('refuses a space in the target', line('GET {{base}}/pets x HTTP/1.1')),
  raw('refuses a target that is not encoded', line('GET {{base}}/pets/Ã© HTTP/1.1')),
  raw('refuses U+0000 in the target', line('GET {{base}}/pets/\0 HTTP/1.1')),
  raw('refuses the start of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
  raw('accepts HTTP/1.0, and closes the connection', line('GET {{base}}/pets?limit=1 HTTP/1.0'), {
    status: 200,
    closes: true,
  }),
  raw(
    'accepts HTTP/1.0 without a Host, as health checks of load balancers send it',
    'GET {{base}}/pets?limit=1 HTTP/1.0\r\nAuthorization: Bearer {{key}}\r\n\r\n',
    { status: 200, closes: true },
  ),
];

const MANY: readonly Header[] = Array.from({ length: 1500 }, () => ['A', 'b']);
const LONG = 'a'.repeat(17 * 1024);
const TOO_LONG: Expectation = error('headers_too_large', { closes: true });

const withHeader = (header: string): string =>
  `GET {{base}}/pets HTTP/1.1\r\n${HEAD}${header}\r\n\r\n${ADD}`;

const headers = [
  raw('refuses a space before a colon', withHeader('X-A : b')),
  raw('refuses a folded header', withHeader('X-A: b\r\n c')),
  raw('refuses a header without a colon', withHeader('X-A')),
  raw('refuses a header without a name', withHeader(': b')),
  raw(
    'refuses a request line that ends in a bare line feed',
    `GET {{base}}/pets HTTP/1.1\n${HEAD}\r\n${ADD}`,
  ),
  raw('refuses a bare carriage return', withHeader('X-A: b\rX-C: d')),
  raw('refuses U+0000 in a header', withHeader('X-A: b\0c')),
  raw('refuses a header name with a bracket', withHeader('X(A): b')),
  raw('answers 431 to headers of 17 KiB', withHeader(`X-A: ${LONG}`), TOO_LONG),
  raw('answers 431 to a target of 17 KiB', line(`GET {{base}}/pets?${LONG} HTTP/1.1`), TOO_LONG),
  row(
    'finds a key after 1,500 other headers',
    { ...get('/pets?limit=1'), headers: [...MANY, bearer()] },
    ok(),
  ),
  row(
    'finds the second of two keys after 1,500 other headers',
    { ...get('/pets?limit=1'), headers: [bearer(), ...MANY, bearer()] },
    error('invalid_api_key'),
  ),
  row(
    'accepts headers named __proto__ and constructor',
    get('/pets?limit=1', ['__proto__', 'x'], ['constructor', 'y']),
    ok(),
  ),
];

const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const SIZE = PET.length.toString(16);
const CHUNKS = `${SIZE}\r\n${PET}\r\n0\r\n\r\n`;

const posted = (framing: string, body: string): string =>
  `POST {{base}}/pets HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\n${framing}\r\n${body}`;

/** Bodies with an ambiguous end, which two programs may see in different places. A whole request follows each. */
const AMBIGUOUS: ReadonlyArray<readonly [what: string, framing: string, body: string]> = [
  ['a length beside chunks', `Content-Length: 6\r\n${CHUNKED}`, '0\r\n\r\nG'],
  ['two different lengths', 'Content-Length: 0\r\nContent-Length: 31\r\n', ''],
  ['two equal lengths', 'Content-Length: 31\r\nContent-Length: 31\r\n', PET],
  ['a list of lengths', 'Content-Length: 31, 31\r\n', PET],
  ['a length with a plus', 'Content-Length: +31\r\n', PET],
  ['a negative length', 'Content-Length: -1\r\n', ''],
  ['a length of 20 digits', 'Content-Length: 99999999999999999999\r\n', PET],
  ['an empty length', 'Content-Length: \r\n', ''],
  [
    'a transfer that is chunked and then identity',
    'Transfer-Encoding: chunked, identity\r\n',
    CHUNKS,
  ],
  [
    'a transfer that is compressed and then chunked',
    'Transfer-Encoding: gzip, chunked\r\n',
    CHUNKS,
  ],
  ['a transfer that is almost chunked', 'Transfer-Encoding: xchunked\r\n', CHUNKS],
  ['a space before the colon of the transfer', 'Transfer-Encoding : chunked\r\n', CHUNKS],
  ['a folded transfer', 'Transfer-Encoding:\r\n chunked\r\n', CHUNKS],
  ['a bare line feed in the framing', 'Transfer-Encoding: chunked\n', CHUNKS],
  ['a chunk size that is not a number', CHUNKED, `zz\r\n${PET}\r\n0\r\n\r\n`],
  ['a negative chunk size', CHUNKED, `-1\r\n${PET}\r\n0\r\n\r\n`],
  ['a chunk size of 20 digits', CHUNKED, `ffffffffffffffffffff\r\n${PET}\r\n0\r\n\r\n`],
  ['a chunk line that ends in a bare line feed', CHUNKED, `${SIZE}\n${PET}\n0\n\n`],
  ['a chunk that is longer than its size', CHUNKED, `5\r\n${PET}\r\n0\r\n\r\n`],
];

const smuggling = [
  ...AMBIGUOUS.map(([what, framing, body]) =>
    raw(`refuses ${what}, and does not execute what follows`, posted(framing, body) + ADD),
  ),
  ...[CHUNKED, `${CHUNKED}Connection: keep-alive\r\n`, 'Transfer-Encoding: identity\r\n'].map(
    (framing) =>
      raw(
        `refuses HTTP/1.0 with ${framing.trim().replace('\r\n', ' and ')}, and does not execute what follows`,
        posted(framing, CHUNKS).replace('HTTP/1.1', 'HTTP/1.0') + ADD,
      ),
  ),
  raw(
    'answers 413 to chunk extensions of 20 KiB',
    posted(CHUNKED, `1f;${'a'.repeat(20 * 1024)}\r\n${PET}\r\n0\r\n\r\n`) + ADD,
    error('payload_too_large', { closes: true }),
  ),
  raw(
    'does not execute the body of a refused request that arrived whole, and answers the next one',
    `POST {{base}}/pets HTTP/1.1\r\nHost: {{host}}\r\nContent-Length: ${BARE.length}\r\n\r\n${BARE}${LIST}`,
    error('missing_api_key', { staysOpen: true, further: [{ status: 200, body: /^\[/ }] }),
  ),
  raw(
    'does not execute the beginning of the body of a refused request, and closes the connection',
    `POST {{base}}/pets HTTP/1.1\r\nHost: {{host}}\r\nContent-Length: 9999\r\n\r\n${ADD}`,
    error('missing_api_key', { closes: true }),
  ),
];

const connections = [
  raw(
    'accepts chunks with extensions and trailers, and ignores those',
    posted(CHUNKED, `${SIZE};a=b\r\n${PET}\r\n0\r\nAuthorization: Bearer x\r\nX-A: b\r\n\r\n`),
    CREATED,
  ),
  raw(
    'answers 431 to trailers of 17 KiB, and adds nothing',
    posted(CHUNKED, `${SIZE}\r\n${PET}\r\n0\r\nX-A: ${LONG}\r\n\r\n`),
    TOO_LONG,
  ),
  raw(
    'answers three requests on a connection in their order',
    `${LIST}GET {{base}}/pets/0 HTTP/1.1\r\n${HEAD}\r\n${LIST}`,
    {
      status: 200,
      staysOpen: true,
      further: [error('pet_not_found', { staysOpen: true }), { status: 200, staysOpen: true }],
    },
  ),
  raw(
    'sends nothing between the headers of a response to HEAD and the next response',
    `HEAD {{base}}/pets?limit=1 HTTP/1.1\r\n${HEAD}\r\n${LIST}`,
    { status: 200, staysOpen: true, further: [ok()] },
  ),
  raw(
    'answers the requests before a malformed one',
    `${LIST}${LIST}${posted(`X-Request-Id: bad-chunk\r\n${CHUNKED}`, 'zz\r\n')}`,
    { status: 200, further: [ok(), { ...BAD, headers: { 'X-Request-Id': 'bad-chunk' } }] },
  ),
  raw('accepts an empty line before a request', `\r\n${LIST}`, ok()),
  raw(
    'closes the connection of a client that asks for it',
    LIST.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'),
    { status: 200, closes: true },
  ),
];

/** Messages that are not well-formed, and connections. */
export const MALFORMED = [...hostsAndLines, ...headers, ...smuggling, ...connections];
