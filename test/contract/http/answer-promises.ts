import { strict as assert } from 'node:assert';
import { STATUS_CODES } from 'node:http';
import { headerValues, type Answer } from './conversation.js';

/** What was asked, as far as it says what every answer to it must be. */
export interface Asked {
  /** Unknown for what no parser understood. */
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly basePath: string;
  /** Whether the answer came over a socket: what dates it, and says how long a connection lasts, is there only then. */
  readonly overSocket: boolean;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const TELLING = ['Server', 'X-Powered-By', 'Via', 'X-Response-Time', 'X-AspNet-Version'];

/** The value of a header that must be there once. */
export function header(answer: Answer, name: string): string {
  const values = headerValues(answer, name);
  assert.equal(values.length, 1, `${name} must be there once, and is ${JSON.stringify(values)}`);
  return values[0] ?? '';
}

/** Holds an answer to what all of them promise, whatever was asked. */
export function checkAnswer(answer: Answer, asked: Asked): void {
  const { status } = answer;
  assert.ok(STATUS_CODES[status] !== undefined, `no status: ${status}`);
  assert.match(header(answer, 'X-Request-Id'), /^[A-Za-z0-9._-]{1,128}$/);
  assert.equal(header(answer, 'X-Content-Type-Options'), 'nosniff');
  if (asked.overSocket) assert.match(header(answer, 'Date'), / GMT$/);
  for (const name of TELLING) assert.deepEqual(headerValues(answer, name), [], `${name} tells too much`);
  assert.equal(header(answer, 'Cache-Control'), cacheControl(status, asked.method));
  checkBody(answer, asked);
  checkDeprecation(answer, asked);
  checkEntityTag(answer, asked);
  if (status === 401) assert.match(header(answer, 'WWW-Authenticate'), /^Bearer realm="animal-store"/);
  if (status === 405) header(answer, 'Allow');
  if (status === 503) assert.match(header(answer, 'Retry-After'), /^[1-9]\d*$/);
  if (status === 201) header(answer, 'Location');
}

/** Only what a GET found may be kept, by the client alone, and asked for again each time. */
const cacheControl = (status: number, method: string | undefined): string =>
  (status === 200 || status === 304) && (method === 'GET' || method === 'HEAD')
    ? 'private, no-cache'
    : 'no-store';

/** On what a GET of an operation found, and nowhere else. */
function checkEntityTag(answer: Answer, { method, path, basePath }: Asked): void {
  const found = answer.status === 200 || answer.status === 304;
  if (method === undefined || path === undefined) return;
  if (found && path.startsWith(`${basePath}/pets`)) assert.match(header(answer, 'ETag'), /^"[\w-]{22}"$/);
  else if (!found) assert.deepEqual(headerValues(answer, 'ETag'), []);
}

/** Where people are served, with texts of other types than JSON. */
const FOR_PEOPLE = /^\/(?:docs(?:\/.*)?)?$/;

function checkBody(answer: Answer, { method, path }: Asked): void {
  const { status, body } = answer;
  if (status === 204 || status === 304) {
    assert.deepEqual(headerValues(answer, 'Content-Type'), []);
    assert.equal(body.length, 0);
    return;
  }
  const type = header(answer, 'Content-Type');
  if (status < 400 && FOR_PEOPLE.test(path ?? '')) assert.match(type, /; charset=utf-8$/);
  else assert.equal(type, JSON_TYPE);
  if (method === 'HEAD') {
    assert.equal(body.length, 0, 'an answer to HEAD has no body');
    assert.ok(
      Number(header(answer, 'Content-Length')) > 0,
      'a HEAD tells the length of what a GET would get',
    );
    return;
  }
  assert.equal(header(answer, 'Content-Length'), String(body.length));
  assert.equal(new TextDecoder('utf-8', { fatal: true }).decode(body).length > 0, true);
  if (status >= 400) checkError(answer);
}

/** The shape of the interface: three members, the status repeated. */
function checkError({ status, body }: Answer): void {
  const error = JSON.parse(body.toString()) as Record<string, unknown>;
  assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'status']);
  assert.equal(error['status'], status);
  assert.match(String(error['code']), /^[a-z]+(?:_[a-z]+)*$/);
  assert.equal(typeof error['message'], 'string');
  assert.match(String(error['message']), /^\S.*\.$/s, 'a message is a sentence');
  assert.doesNotMatch(String(error['message']), /static-key|ast_live_|node_modules|\bat .*:\d+:\d+/);
}

/** On every answer of the deprecated route, and on no other. */
function checkDeprecation(answer: Answer, { path, basePath }: Asked): void {
  if (path === undefined) return;
  const below = path.startsWith(`${basePath}/pets/`) ? path.slice(`${basePath}/pets/`.length) : '';
  if (/^[^/?]+$/.test(below)) {
    assert.match(header(answer, 'Deprecation'), /^@\d+$/);
    assert.equal(header(answer, 'Sunset'), 'Thu, 05 Dec 2030 00:00:00 GMT');
    assert.match(header(answer, 'Link'), /^<[^<>]+\/pets\?status=available>; rel="successor-version"$/);
  } else {
    assert.deepEqual(headerValues(answer, 'Deprecation'), []);
    assert.deepEqual(headerValues(answer, 'Sunset'), []);
  }
}
