import assert from 'node:assert/strict';
import { checkAbsent, header, type RawResponse } from './conversation.js';
import { words } from '../samples.js';
import {
  PET,
  bare,
  by,
  fill,
  post,
  postAs,
  send,
  type RawRequest,
  type RowRequest,
} from './request-row.js';
import type { Ready } from './run-row.js';

/** A response and the request it answers. */
interface Sample {
  readonly response: RawResponse;
  /** Unknown for what no parser understands. */
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly basePath: string;
  readonly overSocket: boolean;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const REVEALING = ['Server', 'X-Powered-By', 'Via', 'X-Response-Time', 'X-AspNet-Version'];

/** What holds for all responses, whatever the request. */
export const RESPONSE_CLAUSES: Readonly<Record<string, (sample: Sample) => void>> = {
  'gives every response a request id': ({ response }) =>
    assert.match(header(response, 'X-Request-Id'), /^[A-Za-z0-9._-]{1,128}$/),
  'forbids browsers to guess the type of any response': ({ response }) =>
    assert.equal(header(response, 'X-Content-Type-Options'), 'nosniff'),
  'dates every response over a socket': ({ response, overSocket }) => {
    if (overSocket) assert.match(header(response, 'Date'), / GMT$/);
  },
  'reveals in no response what the service is made of': ({ response }) => {
    for (const name of REVEALING) checkAbsent(response, name);
  },
  'lets only clients cache, and only what a GET returned': ({ response, method }) => {
    const found = response.status === 200 || response.status === 304;
    const cacheable = found && (method === 'GET' || method === 'HEAD');
    assert.equal(header(response, 'Cache-Control'), cacheable ? 'private, no-cache' : 'no-store');
  },
  'names the media type and the charset of every body': ({ response, path }) => {
    if (!hasBody(response)) return checkAbsent(response, 'Content-Type');
    const type = header(response, 'Content-Type');
    if (response.status < 400 && FOR_PEOPLE.test(path ?? ''))
      assert.match(type, /; charset=utf-8$/);
    else assert.equal(type, JSON_TYPE);
  },
  'sends the Content-Length of every body, for HEAD too': ({ response, method }) => {
    if (!hasBody(response)) return assert.equal(response.body.length, 0);
    const length = header(response, 'Content-Length');
    if (method === 'HEAD') assert.ok(Number(length) > 0, `Content-Length: ${length}`);
    else assert.equal(length, String(response.body.length));
  },
  'sends no body in a response to HEAD': ({ response, method }) => {
    if (method === 'HEAD') assert.equal(response.body.length, 0);
  },
  'encodes every body as UTF-8': ({ response }) =>
    void new TextDecoder('utf-8', { fatal: true }).decode(response.body),
  'gives every error the shape of the interface': ({ response, method }) => {
    if (response.status >= 400 && method !== 'HEAD') checkError(response);
  },
  'says on every response of getPet that it is deprecated, and on no other': checkDeprecation,
  'gives an entity tag to what a GET returned, and to nothing else': checkEntityTag,
  'sends the headers that a status requires, and a Retry-After only where a retry helps': ({
    response,
  }) => {
    const { status } = response;
    if (status === 401)
      assert.match(header(response, 'WWW-Authenticate'), /^Bearer realm="animal-store"/);
    if (status === 405) header(response, 'Allow');
    if (status === 503) assert.match(header(response, 'Retry-After'), /^[1-9]\d*$/);
    else if (status !== 409 && status !== 429) checkAbsent(response, 'Retry-After');
    if (status === 201) header(response, 'Location');
  },
};

/** A response to HEAD has none, but its headers describe it. */
const hasBody = ({ status }: RawResponse): boolean => status !== 204 && status !== 304;

/** The paths of the docs page, whose files have other types. */
const FOR_PEOPLE = /^\/(?:docs(?:\/.*)?)?$/;

function checkError({ status, body }: RawResponse): void {
  const error = JSON.parse(body.toString()) as Record<string, unknown>;
  assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'status']);
  assert.equal(error['status'], status);
  assert.match(String(error['code']), /^[a-z]+(?:_[a-z]+)*$/);
  assert.equal(typeof error['message'], 'string');
  assert.match(String(error['message']), /^\S.*\.$/s, 'a message is a sentence');
  assert.doesNotMatch(
    String(error['message']),
    /static-key|ast_live_|node_modules|\bat .*:\d+:\d+/,
  );
}

function checkDeprecation({ response, method = '', path, basePath }: Sample): void {
  if (path === undefined) return;
  if (path.startsWith(`${basePath}/pets/`) && ['GET', 'HEAD'].includes(method)) {
    assert.match(header(response, 'Deprecation'), /^@\d+$/);
    assert.equal(header(response, 'Sunset'), 'Thu, 05 Dec 2030 00:00:00 GMT');
    assert.match(
      header(response, 'Link'),
      /^<[^<>]+\/pets\?status=available>; rel="successor-version"$/,
    );
  } else {
    checkAbsent(response, 'Deprecation');
    checkAbsent(response, 'Sunset');
  }
}

function checkEntityTag({ response, method, path, basePath }: Sample): void {
  const found = response.status === 200 || response.status === 304;
  if (method === undefined || path === undefined) return;
  if (found && path.startsWith(`${basePath}/pets`))
    assert.match(header(response, 'ETag'), /^"[\w-]{22}"$/);
  else if (!found) checkAbsent(response, 'ETag');
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

/** The same of another resource: `path`, below the base path, is what GET reads of it. */
export const requestsOf = (path: string): readonly RowRequest[] => [
  ...['GET', 'HEAD', 'PROPFIND'].flatMap((method) =>
    ['{{key}}', '{{writeOnlyKey}}', 'nobody', undefined].map((key) => by(key, send(method, path))),
  ),
  send('OPTIONS', path),
];

const samples = new WeakMap<Ready, Promise<readonly Sample[]>>();

/** The responses to requests of every kind, in the situation of this service. */
export function sampleResponses(service: Ready): Promise<readonly Sample[]> {
  const known = samples.get(service) ?? takeSamples(service, REQUESTS);
  samples.set(service, known);
  return known;
}

/** The responses to these requests. */
export async function takeSamples(
  service: Ready,
  requests: readonly (RowRequest | RawRequest)[],
): Promise<readonly Sample[]> {
  const { overSocket, values } = service;
  const taken: Sample[] = [];
  for (const request of requests) {
    if ('raw' in request && !overSocket) continue;
    const [response] = (await service.send(request)).responses;
    const asked =
      'raw' in request
        ? { method: request.raw.split(' ', 1)[0] }
        : { method: request.method, path: fill(request.target, values).split('?', 1)[0] };
    assert.ok(response, `no response to ${asked.method} ${'path' in asked ? asked.path : ''}`);
    taken.push({ response, ...asked, basePath: values.base, overSocket });
  }
  return taken;
}

/** Checks a clause on responses, and says which request got one that breaks it. */
export function checkSamples(check: (sample: Sample) => void, sampled: readonly Sample[]): void {
  for (const sample of sampled) {
    try {
      check(sample);
    } catch (error) {
      const { response, method = 'a malformed request', path = '' } = sample;
      if (error instanceof Error)
        error.message = `${method} ${path} (${response.status}): ${error.message}`;
      throw error;
    }
  }
}
