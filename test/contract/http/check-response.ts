import assert from 'node:assert/strict';
import type { ExpectedResponse, Row, RowRequest } from './row.js';
import type { RowResponse, TestedService } from './tested-service.js';

const REQUIRED_HEADERS: ReadonlyArray<readonly [statuses: number[], name: string, value: RegExp]> =
  [
    [[201], 'Location', /\/pets\/\d+$/],
    [[401, 403], 'WWW-Authenticate', /^Bearer realm="animal-store"/],
    [[405], 'Allow', /OPTIONS/],
    [[503], 'Retry-After', /^[1-9]\d*$/],
  ];

/** Sends the request of a row, and checks the response and what became of the animals. */
export async function checkRow(
  { request, expected }: Row,
  { send, animals }: TestedService,
): Promise<void> {
  const before = await animals();
  const response = await send(request);
  const after = await animals();
  checkExpected(response, expected);
  checkAnyResponse(response, request);
  if (response.status >= 400 && response.body !== '') checkError(response, expected);
  // A successful write responds with the animal that changed.
  const isWritten = !isRead(request) && [200, 201].includes(response.status);
  const changed = after.filter((animal) => !before.includes(animal));
  assert.deepEqual(changed, isWritten ? [response.body] : [], 'the animals that were stored');
  const isRemoved = request.method === 'DELETE' && response.status === 204;
  assert.equal(after.length < before.length, isRemoved, 'whether an animal was removed');
}

function checkExpected(response: RowResponse, expected: ExpectedResponse): void {
  const { status, headers, body } = response;
  assert.equal(status, expected.status, `the status of the response ${body.slice(0, 500)}`);
  for (const [name, wanted] of Object.entries(expected.headers ?? {})) {
    const value = headers.get(name);
    if (wanted instanceof RegExp) assert.match(value ?? '', wanted, `the header ${name}`);
    else assert.equal(value, wanted, `the header ${name}`);
  }
  if (expected.body instanceof RegExp) assert.match(body, expected.body);
  else if (expected.body !== undefined) assert.equal(body, expected.body, 'the body');
  if (expected.continued !== undefined)
    assert.equal(response.continued, expected.continued, 'whether the client was told to continue');
}

function checkError({ status, body }: RowResponse, expected: ExpectedResponse): void {
  const { message, ...others } = JSON.parse(body) as Record<string, unknown>;
  const code = expected.code ?? others['code']; // a row may leave it open
  assert.deepEqual(others, { code, status }, 'the error');
  assert.match(String(message), expected.message ?? /\S/, 'the message');
  assert.doesNotMatch(String(message), /secret|a-key-|TypeError|node_modules/);
}

/** Checks what holds for every response. */
function checkAnyResponse(response: RowResponse, request: RowRequest): void {
  const { status, headers } = response;
  assert.match(headers.get('X-Request-Id') ?? '', /^[A-Za-z0-9._-]{1,128}$/);
  assert.equal(headers.get('X-Content-Type-Options'), 'nosniff');
  for (const name of ['Server', 'X-Powered-By'])
    assert.equal(headers.get(name), null, `the header ${name}`);
  for (const [statuses, name, value] of REQUIRED_HEADERS)
    if (statuses.includes(status))
      assert.match(headers.get(name) ?? '', value, `the header ${name}`);
  checkBody(response, request);
  checkCaching(response, request);
  checkDeprecation(response, request);
}

function checkBody({ status, headers, body }: RowResponse, { method, path }: RowRequest): void {
  const type = headers.get('Content-Type');
  const length = headers.get('Content-Length');
  if (status === 204 || status === 304) {
    assert.deepEqual([type, length, body], [null, null, ''], 'Content-Type, -Length and body');
    return;
  }
  // `/` redirects to `/docs`. All other responses are JSON.
  const isPage = status < 400 && ['/', '/docs'].includes(new URL(path, 'http://any').pathname);
  assert.equal(type, `${isPage ? 'text/html' : 'application/json'}; charset=utf-8`);
  assert.match(length ?? '', /^[1-9]\d*$/, 'the Content-Length');
  if (method === 'HEAD') assert.equal(body, '', 'the body');
  else assert.equal(length, String(Buffer.byteLength(body)), 'the Content-Length');
}

const isRead = ({ method }: RowRequest): boolean => method === 'GET' || method === 'HEAD';

function checkCaching({ status, headers }: RowResponse, request: RowRequest): void {
  const isFound = isRead(request) && (status === 200 || status === 304);
  const caching = isFound ? 'private, no-cache' : 'no-store';
  assert.equal(headers.get('Cache-Control'), caching, 'the header Cache-Control');
  if (isFound && request.path.startsWith('/v1/pets'))
    assert.match(headers.get('ETag') ?? '', /^"[\w-]+"$/, 'the header ETag');
}

function checkDeprecation({ headers }: RowResponse, request: RowRequest): void {
  const isDeprecated = isRead(request) && /^\/v1\/pets\/[^/?]+(?:\?.*)?$/.test(request.path);
  const expected = isDeprecated ? ['@1795132800', 'Thu, 05 Dec 2030 00:00:00 GMT'] : [null, null];
  const actual = [headers.get('Deprecation'), headers.get('Sunset')];
  assert.deepEqual(actual, expected, 'the headers Deprecation and Sunset');
}
