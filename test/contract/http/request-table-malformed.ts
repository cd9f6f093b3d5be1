import { PET, bearer, get, type Expectation, type Header, type Row } from './request-row.js';

const BAD: Expectation = { status: 400, code: 'malformed_request', closes: true };

const HEAD = 'Host: {{host}}\r\nAuthorization: Bearer {{key}}\r\n';
/** A whole request that adds an animal: what is smuggled must not be done. */
const ADD = `POST {{base}}/pets HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Length: ${PET.length}\r\n\r\n${PET}`;
const LIST = `GET {{base}}/pets?limit=1 HTTP/1.1\r\n${HEAD}\r\n`;

const row = (name: string, raw: string, expect: Expectation = BAD): Row => ({
  name,
  request: { raw },
  expect,
  socketOnly: expect.code === BAD.code ? 'no HTTP client would send it' : 'whoever listens sees to it',
});

const hosts: Row[] = [
  row('refuses a request without a Host', `GET {{base}}/pets HTTP/1.1\r\n\r\n${ADD}`),
  row('refuses a request with two Hosts', `GET {{base}}/pets HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${ADD}`),
  row(
    'refuses a request with the same Host twice',
    `GET {{base}}/pets HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n${ADD}`,
  ),
  row('refuses a Host with a user', 'GET {{base}}/pets HTTP/1.1\r\nHost: evil@example\r\n\r\n'),
  row('refuses a Host with a space', 'GET {{base}}/pets HTTP/1.1\r\nHost: a b\r\n\r\n'),
  row('refuses a Host with a path', 'GET {{base}}/pets HTTP/1.1\r\nHost: a/b\r\n\r\n'),
  row('refuses a POST with two Hosts, and adds nothing', ADD.replace('Host:', 'Host: other\r\nHost:')),
  row('refuses a POST without a Host, and adds nothing', ADD.replace('Host: {{host}}\r\n', '')),
  row('refuses an absolute target without a Host', 'GET http://{{host}}{{base}}/pets HTTP/1.1\r\n\r\n'),
];

const requestLines: Row[] = [
  row('refuses an HTTP/0.9 line', 'GET {{base}}/pets\r\n\r\n'),
  row('refuses HTTP/1.2', `GET {{base}}/pets HTTP/1.2\r\n${HEAD}\r\n`),
  row('refuses HTTP/3.0', `GET {{base}}/pets HTTP/3.0\r\n${HEAD}\r\n`),
  row('refuses the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  row('refuses a protocol in lower case', `GET {{base}}/pets http/1.1\r\n${HEAD}\r\n`),
  row('refuses a method in lower case', `get {{base}}/pets HTTP/1.1\r\n${HEAD}\r\n`),
  row('refuses a method that no standard knows', `FETCH {{base}}/pets HTTP/1.1\r\n${HEAD}\r\n`),
  row('refuses a space in the target', `GET {{base}}/pets x HTTP/1.1\r\n${HEAD}\r\n`),
  row('refuses a target that is not encoded', `GET {{base}}/pets/Ã© HTTP/1.1\r\n${HEAD}\r\n`),
  row('refuses U+0000 in the target', `GET {{base}}/pets/\0 HTTP/1.1\r\n${HEAD}\r\n`),
  row('refuses a beginning of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
  row('refuses bytes at random', '\x00\xff\x13\x37\r\n\r\n'),
  {
    ...row(
      'takes HTTP/1.0, and closes the connection after it',
      `GET {{base}}/pets?limit=1 HTTP/1.0\r\n${HEAD}\r\n`,
    ),
    expect: { status: 200, closes: true },
  },
];

const OTHERS: readonly Header[] = Array.from({ length: 1500 }, () => ['A', 'b']);

const headers: Row[] = [
  row('refuses a space before a colon', `GET {{base}}/pets HTTP/1.1\r\n${HEAD}X-A : b\r\n\r\n${ADD}`),
  row('refuses a folded header', `GET {{base}}/pets HTTP/1.1\r\n${HEAD}X-A: b\r\n c\r\n\r\n${ADD}`),
  row('refuses a header without a colon', `GET {{base}}/pets HTTP/1.1\r\n${HEAD}X-A\r\n\r\n${ADD}`),
  row('refuses a header without a name', `GET {{base}}/pets HTTP/1.1\r\n${HEAD}: b\r\n\r\n${ADD}`),
  row('refuses a line that ends in a bare line feed', `GET {{base}}/pets HTTP/1.1\n${HEAD}\r\n${ADD}`),
  row(
    'refuses a header that ends in a bare line feed',
    `GET {{base}}/pets HTTP/1.1\r\n${HEAD}X-A: b\n\r\n${ADD}`,
  ),
  row('refuses a bare carriage return', `GET {{base}}/pets HTTP/1.1\r\n${HEAD}X-A: b\rX-C: d\r\n\r\n${ADD}`),
  row('refuses U+0000 in a header', `GET {{base}}/pets HTTP/1.1\r\n${HEAD}X-A: b\0c\r\n\r\n${ADD}`),
  row('refuses a header name with a bracket', `GET {{base}}/pets HTTP/1.1\r\n${HEAD}X(A): b\r\n\r\n${ADD}`),
  row(
    'answers 431 to headers of 17 KiB',
    `GET {{base}}/pets HTTP/1.1\r\n${HEAD}X-A: ${'a'.repeat(17 * 1024)}\r\n\r\n`,
    { status: 431, code: 'headers_too_large', closes: true },
  ),
  row(
    'answers 431 to headers of 17 KiB that would get an animal',
    `GET {{base}}/pets/{{pet}} HTTP/1.1\r\n${HEAD}X-A: ${'a'.repeat(17 * 1024)}\r\n\r\n`,
    { status: 431, code: 'headers_too_large', closes: true },
  ),
  row(
    'answers 417 to an unknown expectation of getting an animal',
    `GET {{base}}/pets/{{pet}} HTTP/1.1\r\n${HEAD}Expect: foo\r\n\r\n`,
    { status: 417, code: 'expectation_failed', closes: true },
  ),
  row(
    'answers 431 to a target of 17 KiB',
    `GET {{base}}/pets?${'a'.repeat(17 * 1024)} HTTP/1.1\r\n${HEAD}\r\n`,
    { status: 431, code: 'headers_too_large', closes: true },
  ),
  {
    name: 'finds a key behind 1,500 other headers',
    request: { ...get('/pets?limit=1'), headers: [...OTHERS, bearer()] },
    expect: { status: 200 },
  },
  {
    name: 'finds the second of two keys behind 1,500 other headers',
    request: { ...get('/pets?limit=1'), headers: [bearer(), ...OTHERS, bearer()] },
    expect: { status: 401, code: 'invalid_api_key' },
  },
  {
    name: 'takes a header called __proto__ for what it is',
    request: get('/pets?limit=1', ['__proto__', 'x'], ['constructor', 'y']),
    expect: { status: 200 },
  },
];

/** A body framed in a way that two programs may read differently, with a whole request behind it. */
const smuggled = (name: string, framing: string, body: string): Row =>
  row(
    `refuses ${name}, and does nothing that comes behind it`,
    `POST {{base}}/pets HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\n${framing}\r\n${body}${ADD}`,
  );

const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const chunk = `${PET.length.toString(16)}\r\n${PET}\r\n`;

const smuggling: Row[] = [
  smuggled('a length beside chunks', `Content-Length: 6\r\n${CHUNKED}`, '0\r\n\r\nG'),
  smuggled('chunks beside a length', `${CHUNKED}Content-Length: 6\r\n`, '0\r\n\r\nG'),
  smuggled('two lengths that differ', 'Content-Length: 0\r\nContent-Length: 31\r\n', ''),
  smuggled('two lengths that are equal', `Content-Length: 31\r\nContent-Length: 31\r\n`, PET),
  smuggled('a list of lengths', 'Content-Length: 31, 31\r\n', PET),
  smuggled('a length with a plus', 'Content-Length: +31\r\n', PET),
  smuggled('a negative length', 'Content-Length: -1\r\n', ''),
  smuggled('a length of 20 digits', 'Content-Length: 99999999999999999999\r\n', PET),
  smuggled('a length in hexadecimal', 'Content-Length: 0x1f\r\n', PET),
  smuggled('a length with a word behind it', 'Content-Length: 31 x\r\n', PET),
  smuggled('an empty length', 'Content-Length: \r\n', ''),
  smuggled('an identity transfer', 'Transfer-Encoding: identity\r\n', PET),
  smuggled(
    'a transfer that is chunked and then identity',
    'Transfer-Encoding: chunked, identity\r\n',
    `${chunk}0\r\n\r\n`,
  ),
  smuggled('a transfer that is almost chunked', 'Transfer-Encoding: xchunked\r\n', `${chunk}0\r\n\r\n`),
  smuggled('a transfer in quotes', 'Transfer-Encoding: "chunked"\r\n', `${chunk}0\r\n\r\n`),
  smuggled(
    'a space before the colon of the transfer',
    'Transfer-Encoding : chunked\r\n',
    `${chunk}0\r\n\r\n`,
  ),
  smuggled('a folded transfer', 'Transfer-Encoding:\r\n chunked\r\n', `${chunk}0\r\n\r\n`),
  smuggled('a bare line feed in the framing', 'Transfer-Encoding: chunked\n', `${chunk}0\r\n\r\n`),
  smuggled('a chunk size that is no number', CHUNKED, `zz\r\n${PET}\r\n0\r\n\r\n`),
  smuggled('a negative chunk size', CHUNKED, `-1\r\n${PET}\r\n0\r\n\r\n`),
  smuggled('a chunk size of 20 digits', CHUNKED, `ffffffffffffffffffff\r\n${PET}\r\n0\r\n\r\n`),
  smuggled('a chunk size with 0x', CHUNKED, `0x${chunk}0\r\n\r\n`),
  smuggled(
    'a chunk line that ends in a bare line feed',
    CHUNKED,
    `${PET.length.toString(16)}\n${PET}\n0\n\n`,
  ),
  smuggled('a chunk that is longer than it says', CHUNKED, `5\r\n${PET}\r\n0\r\n\r\n`),
  {
    ...smuggled('chunk extensions of 20 KiB', CHUNKED, `1f;${'a'.repeat(20 * 1024)}\r\n${PET}\r\n0\r\n\r\n`),
    expect: { status: 413, code: 'payload_too_large', closes: true },
  },
  row(
    'does nothing that comes behind a body which it did not read',
    `POST {{base}}/pets HTTP/1.1\r\nHost: {{host}}\r\nContent-Length: ${PET.length}\r\n\r\n${PET}${ADD}`,
    { status: 401, code: 'missing_api_key', closes: true },
  ),
  row(
    'takes the body of a refused request for no request',
    `POST {{base}}/pets HTTP/1.1\r\nHost: {{host}}\r\nContent-Length: ${ADD.length}\r\n\r\n${ADD}`,
    { status: 401, code: 'missing_api_key', closes: true },
  ),
];

const pipelines: Row[] = [
  row(
    'takes a body in chunks with extensions and trailers, and ignores those',
    `POST {{base}}/pets HTTP/1.1\r\n${HEAD}${CHUNKED}\r\n1f;a=b\r\n${PET}\r\n0\r\nAuthorization: Bearer x\r\nX-A: b\r\n\r\n`,
    { status: 201, body: '{"id":{{id}},"name":"Bella","categoryId":7,"status":"available"}' },
  ),
  row(
    'answers 431 to trailers of 17 KiB, and adds nothing',
    `POST {{base}}/pets HTTP/1.1\r\n${HEAD}${CHUNKED}\r\n${chunk}0\r\nX-A: ${'a'.repeat(17 * 1024)}\r\n\r\n`,
    { status: 431, code: 'headers_too_large', closes: true },
  ),
  row(
    'answers three requests on a connection in their order',
    `${LIST}GET {{base}}/pets/0 HTTP/1.1\r\n${HEAD}\r\n${LIST}`,
    {
      status: 200,
      staysOpen: true,
      further: [
        { status: 404, code: 'pet_not_found', staysOpen: true },
        { status: 200, staysOpen: true },
      ],
    },
  ),
  row('answers the requests before a malformed one first', `${LIST}${LIST}GET {{base}}/pets\r\n\r\n${ADD}`, {
    status: 200,
    further: [{ status: 200 }, { status: 400, code: 'malformed_request', closes: true }],
  }),
  row('takes an empty line before a request', `\r\n${LIST}`, { status: 200 }),
  row(
    'closes the connection of a client that asks for it',
    LIST.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'),
    {
      status: 200,
      closes: true,
    },
  ),
];

export const MALFORMED: readonly Row[] = [...hosts, ...requestLines, ...headers, ...smuggling, ...pipelines];
