import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { words } from '../samples.js';
import {
  JSON_TYPE,
  PET,
  USUAL_KEY,
  rows,
  authorized,
  requestTo,
  bearer,
  withKey,
  created,
  error,
  get,
  ok,
  post,
  postAs,
  row,
  withHeaders,
  type Header,
  type RowRequest,
  type Topic,
} from './row.js';
import { KEYS } from './service-parts.js';

const BODY_LIMIT = 64 * 1024;

/** A valid animal of this many bytes, most of them white space. */
const padded = (size: number): string => PET.padEnd(size);
const inChunks = (request: RowRequest): RowRequest => ({ ...request, chunked: true });
const encoded = (coding: string) => post(PET, ['Content-Encoding', coding]);

const bytes = (...parts: ReadonlyArray<string | number>): Uint8Array =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))),
  );

const UNSUPPORTED = error(415, 'unsupported_media_type', {
  message: /^The body must be JSON: send the header Content-Type: application\/json\.$/,
  headers: { Accept: 'application/json' },
});
const TOO_LARGE = error(413, 'payload_too_large');
const NOT_UTF8 = error(400, 'malformed_json', {
  message: /^The body must be JSON in UTF-8; it holds bytes that are not UTF-8\.$/,
});
const NO_KEY = error(401, 'missing_api_key');
const NO_ROUTE = error(404, 'route_not_found');

const EXPECT: Header = ['Expect', '100-continue'];

/** A header value whose bytes are this text in UTF-8: headers are sent as Latin-1. */
const asUtf8 = (text: string): string => Buffer.from(text).toString('latin1');

/** What a transport could damage, and what only a socket can show. */
export const TRANSPORT: readonly Topic[] = [
  {
    topic: 'over a transport, the target of a request',
    layer: 'transport',
    rules: {
      'is matched as it was sent': [
        ...rows(NO_ROUTE, get('/pets/'), get('/pets%2F1'), get('//pets')),
        ...rows(error(404, 'pet_not_found'), ...words('1%2F2 %ZZ').map((id) => get(`/pets/${id}`))),
        row(get('/pets/%31'), ok(/^\{"id":1,/)),
      ],
      'has all of its query': [
        ...rows(
          error(400, 'invalid_parameter'),
          get('/pets?limit=5&%6Cimit=5'),
          get('/pets?limit=1?'),
          get('/pets?status%5B%5D=sold'),
        ),
        row(get('/pets?limit=%31&%73tatus=%73old'), ok(/^\[\{"id":3,[^[]*\]$/)),
        row(get(`/pets?${'a&'.repeat(1500)}limit=1`), ok(/^\[\{"id":1,[^[]*\]$/)),
      ],
    },
  },
  {
    topic: 'over a transport, headers',
    layer: 'transport',
    rules: {
      'all reach the service': [
        row(get('/pets', bearer('nobody')), error(401, 'invalid_api_key')),
        row(withKey(asUtf8('clé'), get('/pets')), error(401, 'invalid_api_key')),
        row(
          post(PET, ['Idempotency-Key', 'one'], ['Idempotency-Key', 'one']),
          error(400, 'invalid_parameter', { message: /Idempotency-Key/ }),
        ),
        row(post(PET, ['Content-Type', 'text/plain']), error(415, 'unsupported_media_type')),
        row(get('/pets', ['X-Request-Id', 'mine']), ok(undefined, { 'X-Request-Id': 'mine' })),
      ],
      'without a meaning here are ignored': [
        row(post(PET, ['X-HTTP-Method-Override', 'GET'], ['X-Method-Override', 'GET']), created()),
        row(post(PET, ['X-Forwarded-Host', 'evil.example'], ['Forwarded', 'host=evil']), created()),
        row(get('/pets/1', ['Accept', 'text/html'], ['Range', 'bytes=0-3']), ok(/^\{"id":1,.*\}$/)),
      ],
    },
  },
  {
    topic: 'over a transport, the body of a request',
    layer: 'transport',
    rules: {
      'reaches the service exactly': [
        row(post('{"name":"🐈 \u00e9","categoryId":1}'), created('"🐈 \u00e9"', '1')),
        row(
          post('{"name":"Bella","categoryId":9007199254740993}'),
          created('"Bella"', '9007199254740993'),
        ),
        row(inChunks(post(PET)), created()),
        row(post(`\ufeff${PET}`), created()),
        ...rows(
          NOT_UTF8,
          post(bytes('{"name":"a', 0xe9, '","categoryId":7}')),
          post(bytes(PET, 0xc3)),
          post('{"name":"\ufffd","categoryId":7}'),
        ),
        row(post('null'), error(400, 'invalid_pet')),
      ],
      'may be empty': rows(
        error(400, 'missing_body'),
        authorized('POST', '/pets', JSON_TYPE),
        post(''),
        inChunks(post('')),
        postAs('text/plain', ''),
      ),
      'is read as JSON if its type says so, or nothing': rows(
        created(),
        postAs(),
        postAs('Application/JSON'),
        postAs('application/json ; charset="UTF-8"'),
        postAs('application/json; charset=latin1'),
        encoded('Identity'),
      ),
      'is refused if its type is another one': rows(
        UNSUPPORTED,
        ...words('application/x-www-form-urlencoded application/vnd.api+json */*').map((type) =>
          postAs(type),
        ),
        inChunks(postAs('text/plain')),
      ),
      'is refused if it is encoded': rows(
        error(415, 'unsupported_media_type', {
          message: /Content-Encoding/,
          headers: { 'Accept-Encoding': 'identity' },
        }),
        ...['gzip', 'br', 'identity, gzip'].map(encoded),
      ),
      'is refused if it is larger than 64 KiB': [
        row(post(padded(BODY_LIMIT)), created()),
        ...rows(
          TOO_LARGE,
          post(padded(BODY_LIMIT + 1)),
          inChunks(post(padded(BODY_LIMIT + 1))),
          post(padded(300_000)),
        ),
      ],
      'is not looked at without a key': rows(
        NO_KEY,
        ...[post('{'), post(padded(300_000)), postAs('text/plain')].map((request) =>
          withKey(undefined, request),
        ),
      ),
    },
  },
  {
    topic: 'over a transport with a limit of 100 bytes, a body',
    layer: 'transport',
    settings: { bodyLimit: 100 },
    rules: {
      'is refused if it is larger': [
        row(post(padded(100)), created()),
        row(post(padded(101)), TOO_LARGE),
        row(inChunks(post(padded(101))), TOO_LARGE),
      ],
    },
  },
  {
    topic: 'over a transport, a response',
    layer: 'transport',
    rules: {
      'is whole': [
        row(get('/pets?limit=1'), ok(/^\[\{"id":1,.*\]$/, { Link: /rel="next"/ })),
        row(get('/pets/1', ['If-None-Match', '*']), { status: 304 }),
        row(requestTo('OPTIONS', '/v1/pets'), { status: 204 }),
        row(authorized('DELETE', '/pets'), error(405, 'method_not_allowed')),
        row(withKey(KEYS.reader, post(PET)), error(403, 'insufficient_scope')),
        row(requestTo('GET', '/livez'), ok('{"live":true}')),
        row(requestTo('GET', '/'), { status: 307 }),
      ],
      async 'to HEAD has the status and headers of GET'({ send }) {
        for (const request of [
          get('/pets?limit=1'),
          get('/pets/1'),
          get('/pets/0'),
          get('/pets?limit=0'),
          get('/pets', ['If-None-Match', '*']),
          get('/orders'),
          withKey(undefined, get('/pets')),
          requestTo('GET', '/livez'),
          requestTo('GET', '/openapi.json'),
          requestTo('GET', '/docs'),
        ]) {
          const got = await send(request);
          const head = await send({ ...request, method: 'HEAD' });
          for (const { headers } of [got, head]) {
            headers.delete('X-Request-Id');
            headers.delete('Date');
          }
          assert.equal(head.status, got.status, request.path);
          assert.deepEqual([...head.headers], [...got.headers], request.path);
          assert.equal(head.body, '', request.path);
        }
      },
    },
  },
  {
    topic: 'over a transport, a faulty service',
    layer: 'transport',
    store: 'faulty',
    rules: { 'answers with 500': rows(error(500, 'internal_error'), get('/pets'), post(PET)) },
  },
  {
    topic: 'over a socket, a request',
    layer: 'socket',
    rules: {
      'may have an absolute target': [
        row(
          requestTo('GET', 'http://elsewhere.example/v1/pets?limit=1', USUAL_KEY),
          ok(/^\[\{"id":1,/),
        ),
        row(requestTo('GET', 'http://elsewhere.example/v1/pets'), NO_KEY),
        row(requestTo('GET', 'http://elsewhere.example'), { status: 307 }),
      ],
      'keeps dot segments: `..` is not resolved': [
        row(get('/pets/%2e%2e'), error(404, 'pet_not_found')),
        row(get('/pets/../pets'), NO_ROUTE),
        row(requestTo('GET', '/docs/../livez'), NO_ROUTE),
      ],
      'may be a GET with a body, which is ignored': [
        row({ ...get('/pets/1'), body: '{' }, ok(/^\{"id":1,/)),
      ],
      'may have an unknown Expect, which is ignored': [
        row(get('/pets', ['Expect', 'foo']), { status: 200 }),
      ],
      'may be for another host': [row(post(PET, ['Host', 'evil.example']), created())],
      'may have any method': [
        row(authorized('TRACE', '/pets'), error(405, 'method_not_allowed')),
        row(authorized('QUERY', '/pets'), error(405, 'method_not_allowed')),
      ],
      async 'leaves its connection open if its body was read'({ send }) {
        const agent = new Agent({ keepAlive: true });
        const isReused = [];
        for (const body of ['{', '{}', PET])
          isReused.push((await send(post(body), agent)).isReused);
        agent.destroy();
        assert.deepEqual(isReused, [false, true, true]);
      },
      'gets 100 Continue only if its body will be read': [
        row(post(PET, EXPECT), { ...created(), continued: true }),
        row(withKey(undefined, post(PET, EXPECT)), { ...NO_KEY, continued: false }),
        row(withHeaders(postAs('text/plain'), EXPECT), { ...UNSUPPORTED, continued: false }),
        row(post(padded(BODY_LIMIT + 1), EXPECT), { ...TOO_LARGE, continued: false }),
        row(withKey(KEYS.reader, post(PET, EXPECT)), {
          ...error(403, 'insufficient_scope'),
          continued: false,
        }),
      ],
    },
  },
];
