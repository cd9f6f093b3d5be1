import { STATUS_CODES } from 'node:http';
import { assert } from '../assert.js';
import { header, headerValues, type Answer } from './conversation.js';
import { words } from '../samples.js';
import { PET, bare, by, fill, post, postAs, send, type RawRequest, type RowRequest } from './request-row.js';
import type { Ready } from './run-row.js';

/** A response, and what it answers. */
interface Sample {
  readonly answer: Answer;
  /** Unknown for what no parser understands. */
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly basePath: string;
  readonly overSocket: boolean;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const REVEALING = ['Server', 'X-Powered-By', 'Via', 'X-Response-Time', 'X-AspNet-Version'];

/** What all responses promise, whatever the request. */
export const ANSWER_PROMISES: Readonly<Record<string, (sample: Sample) => void>> = {
  'gives every response a status that exists': ({ answer: { status } }) =>
    assert.ok(STATUS_CODES[status] !== undefined, `no status: ${status}`),
  'gives every response a request id': ({ answer }) =>
    assert.match(header(answer, 'X-Request-Id'), /^[A-Za-z0-9._-]{1,128}$/),
  'forbids browsers to guess the type of any response': ({ answer }) =>
    assert.equal(header(answer, 'X-Content-Type-Options'), 'nosniff'),
  'dates every response over a socket': ({ answer, overSocket }) => {
    if (overSocket) assert.match(header(answer, 'Date'), / GMT$/);
  },
  'reveals in no response what the service is made of': ({ answer }) => {
    for (const name of REVEALING) assert.deepEqual(headerValues(answer, name), [], name);
  },
  'lets only clients cache, and only what a GET returned': ({ answer, method }) => {
    const found = answer.status === 200 || answer.status === 304;
    const cacheable = found && (method === 'GET' || method === 'HEAD');
    assert.equal(header(answer, 'Cache-Control'), cacheable ? 'private, no-cache' : 'no-store');
  },
  'names the media type and the charset of every body': ({ answer, path }) => {
    if (!hasBody(answer)) return assert.deepEqual(headerValues(answer, 'Content-Type'), []);
    const type = header(answer, 'Content-Type');
    if (answer.status < 400 && FOR_PEOPLE.test(path ?? '')) assert.match(type, /; charset=utf-8$/);
    else assert.equal(type, JSON_TYPE);
  },
  'sends the Content-Length of every body, for HEAD too': ({ answer, method }) => {
    if (!hasBody(answer)) return assert.equal(answer.body.length, 0);
    const length = header(answer, 'Content-Length');
    if (method === 'HEAD') assert.ok(Number(length) > 0, `Content-Length: ${length}`);
    else assert.equal(length, String(answer.body.length));
  },
  'sends no body in a response to HEAD': ({ answer, method }) => {
    if (method === 'HEAD') assert.equal(answer.body.length, 0);
  },
  'encodes every body as UTF-8': ({ answer }) =>
    void new TextDecoder('utf-8', { fatal: true }).decode(answer.body),
  'gives every error the shape of the interface': ({ answer, method }) => {
    if (answer.status >= 400 && method !== 'HEAD') checkError(answer);
  },
  'says on every response of getPet that it is deprecated, and on no other': checkDeprecation,
  'gives an entity tag to what a GET returned, and to nothing else': checkEntityTag,
  'sends the headers that a status requires': ({ answer }) => {
    const { status } = answer;
    if (status === 401) assert.match(header(answer, 'WWW-Authenticate'), /^Bearer realm="animal-store"/);
    if (status === 405) header(answer, 'Allow');
    if (status === 503) assert.match(header(answer, 'Retry-After'), /^[1-9]\d*$/);
    if (status === 201) header(answer, 'Location');
  },
};

/** A HEAD gets none, and yet its headers describe it. */
const hasBody = ({ status }: Answer): boolean => status !== 204 && status !== 304;

/** Where the docs page is, whose files have other types. */
const FOR_PEOPLE = /^\/(?:docs(?:\/.*)?)?$/;

function checkError({ status, body }: Answer): void {
  const error = JSON.parse(body.toString()) as Record<string, unknown>;
  assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'status']);
  assert.equal(error['status'], status);
  assert.match(String(error['code']), /^[a-z]+(?:_[a-z]+)*$/);
  assert.equal(typeof error['message'], 'string');
  assert.match(String(error['message']), /^\S.*\.$/s, 'a message is a sentence');
  assert.doesNotMatch(String(error['message']), /static-key|ast_live_|node_modules|\bat .*:\d+:\d+/);
}

function checkDeprecation({ answer, path, basePath }: Sample): void {
  if (path === undefined) return;
  if (path.startsWith(`${basePath}/pets/`)) {
    assert.match(header(answer, 'Deprecation'), /^@\d+$/);
    assert.equal(header(answer, 'Sunset'), 'Thu, 05 Dec 2030 00:00:00 GMT');
    assert.match(header(answer, 'Link'), /^<[^<>]+\/pets\?status=available>; rel="successor-version"$/);
  } else {
    assert.deepEqual(headerValues(answer, 'Deprecation'), []);
    assert.deepEqual(headerValues(answer, 'Sunset'), []);
  }
}

function checkEntityTag({ answer, method, path, basePath }: Sample): void {
  const found = answer.status === 200 || answer.status === 304;
  if (method === undefined || path === undefined) return;
  if (found && path.startsWith(`${basePath}/pets`)) assert.match(header(answer, 'ETag'), /^"[\w-]{22}"$/);
  else if (!found) assert.deepEqual(headerValues(answer, 'ETag'), []);
}

const LONG = 'a'.repeat(17 * 1024);

/** Requests of every kind: those that succeed, and one for each error that a client can cause. */
const REQUESTS: readonly (RowRequest | RawRequest)[] = [
  ...['GET', 'HEAD'].flatMap((method) => [
    send(method, '/pets?limit=1'),
    send(method, '/pets/{{pet}}'),
    send(method, '/pets/0'),
    send(method, '/pets/abc'),
    send(method, '/pets/{{pet}}', ['If-None-Match', '{{petTag}}']),
    send(method, '/pets?limit=0'),
    send(method, '/orders'),
    by(undefined, send(method, '/pets')),
    by('nobody', send(method, '/pets/{{pet}}')),
    by('{{writeOnlyKey}}', send(method, '/pets')),
    by('{{writeOnlyKey}}', send(method, '/pets/{{pet}}')),
  ]),
  ...words('/livez /readyz /openapi.json / /docs /nowhere').flatMap((path) => [
    bare('GET', path),
    bare('HEAD', path),
  ]),
  post('{"name":"Ren\u00e9e \ud83d\udc15","categoryId":7}'),
  post('{'),
  post('{"name":"Bella"}'),
  post(''),
  post(PET, ['Idempotency-Key', '']),
  post(PET.padEnd(300_000)),
  postAs('text/plain'),
  send('OPTIONS', '/pets'),
  send('OPTIONS', '/pets/{{pet}}'),
  send('DELETE', '/pets'),
  send('DELETE', '/pets/{{pet}}'),
  { raw: 'GET {{base}}/pets HTTP/1.1\r\n\r\n' },
  { raw: 'GET {{base}}/pets HTTP/1.2\r\nHost: {{host}}\r\n\r\n' },
  { raw: `GET {{base}}/pets/{{pet}} HTTP/1.1\r\nHost: {{host}}\r\nX-A: ${LONG}\r\n\r\n` },
  { raw: 'GET {{base}}/pets/{{pet}} HTTP/1.1\r\nHost: {{host}}\r\nExpect: foo\r\n\r\n' },
  { raw: 'CONNECT {{host}} HTTP/1.1\r\nHost: {{host}}\r\n\r\n' },
  {
    raw: 'POST {{base}}/pets HTTP/1.1\r\nHost: {{host}}\r\nAuthorization: Bearer {{key}}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  },
];

const samples = new WeakMap<Ready, Promise<readonly Sample[]>>();

/** The responses to requests of every kind, in the situation of this service. */
export function sampleAnswers(service: Ready): Promise<readonly Sample[]> {
  const known = samples.get(service) ?? takeSamples(service);
  samples.set(service, known);
  return known;
}

async function takeSamples(service: Ready): Promise<readonly Sample[]> {
  const { overSocket, values } = service;
  const taken: Sample[] = [];
  for (const request of REQUESTS) {
    if ('raw' in request && !overSocket) continue;
    const [answer] = (await service.send(request)).answers;
    const asked =
      'raw' in request
        ? { method: request.raw.split(' ', 1)[0] }
        : { method: request.method, path: fill(request.target, values).split('?', 1)[0] };
    assert.ok(answer, `no response to ${asked.method} ${'path' in asked ? asked.path : ''}`);
    taken.push({ answer, ...asked, basePath: values.base, overSocket });
  }
  return taken;
}

/** Checks a promise on responses, and says which request got one that breaks it. */
export function checkSamples(check: (sample: Sample) => void, sampled: readonly Sample[]): void {
  for (const sample of sampled) {
    try {
      check(sample);
    } catch (error) {
      const { answer, method = 'a malformed request', path = '' } = sample;
      if (error instanceof Error) error.message = `${method} ${path} (${answer.status}): ${error.message}`;
      throw error;
    }
  }
}
