import assert from 'node:assert/strict';
import {
  PET,
  rows,
  requestTo,
  bearer,
  withKey,
  error,
  get,
  ok,
  post,
  row,
  withHeaders,
  type ExpectedResponse,
  type Header,
  type RowRequest,
  type Topic,
} from './row.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const withId = (id: string) => get('/pets', ['X-Request-Id', id]);

const unavailable = (retryAfter: string) =>
  error(503, 'service_unavailable', { headers: { 'Retry-After': retryAfter } });

const OPERATIONS: readonly RowRequest[] = [get('/pets'), get('/pets/1'), post(PET)];

const ONE: Header = ['Origin', 'https://one.example'];
const TWO: Header = ['Origin', 'http://localhost:5173'];

const NO_CORS = { 'Access-Control-Allow-Origin': null, 'Access-Control-Expose-Headers': null };

/** The headers of a response that pages of this origin may read. */
const readable = ([, origin]: Header): ExpectedResponse['headers'] => ({
  'Access-Control-Allow-Origin': origin,
  'Access-Control-Expose-Headers': /\*|(?=.*Link)(?=.*Location)(?=.*ETag)(?=.*X-Request-Id)/,
  'Access-Control-Allow-Credentials': null,
  Vary: 'Origin',
});

const readableBy = (origin: Header, expected: ExpectedResponse, request: RowRequest) =>
  row(withHeaders(request, origin), {
    ...expected,
    headers: { ...readable(origin), ...expected.headers },
  });

/** Asks whether a page of this origin may send a POST with these headers. */
const preflight = (
  path: string,
  origin: Header,
  headers = 'authorization,content-type,idempotency-key',
): RowRequest =>
  requestTo(
    'OPTIONS',
    path,
    origin,
    ['Access-Control-Request-Method', 'POST'],
    ['Access-Control-Request-Headers', headers],
  );

/** What does not belong to an operation: request ids, failures, pages of other origins, the document. */
export const SERVICE: readonly Topic[] = [
  {
    topic: 'request ids',
    rules: {
      'are those of the client if they are safe': ['a', 'Req_42.a-b', 'x'.repeat(128)].map((id) =>
        row(withId(id), ok(undefined, { 'X-Request-Id': id })),
      ),
      'are new if they are not': ['', 'x'.repeat(129), 'a b'].map((id) =>
        row(withId(id), ok(undefined, { 'X-Request-Id': UUID })),
      ),
      async 'differ from request to request'({ send }) {
        const responses = await Promise.all([1, 2, 3].map(() => send(get('/pets'))));
        const ids = new Set(responses.map(({ headers }) => headers.get('X-Request-Id')));
        assert.equal(ids.size, 3);
      },
    },
  },
  {
    topic: 'a service whose store is unreachable',
    store: 'unreachable',
    rules: {
      'answers 503, with the time to retry if the store knows it': rows(
        unavailable('7'),
        ...OPERATIONS,
        requestTo('GET', '/readyz'),
      ),
      'is alive, and still checks requests': [
        row(requestTo('GET', '/livez'), ok('{"live":true}')),
        row(get('/pets?limit=101'), error(400, 'invalid_parameter')),
        row(post('{}'), error(400, 'invalid_pet')),
        row(withKey('nobody', get('/pets')), error(401, 'invalid_api_key')),
      ],
    },
  },
  {
    topic: 'a service with an unexpected error',
    store: 'faulty',
    rules: {
      'reveals only the request id': OPERATIONS.map((request) =>
        row(
          withHeaders(request, ['X-Request-Id', 'failure-1']),
          error(500, 'internal_error', { message: /failure-1/ }),
        ),
      ),
    },
  },
  {
    topic: 'a service whose deadline has passed',
    store: 'stuck',
    settings: { requestDeadline: 20 },
    rules: { 'is unavailable': rows(unavailable('1'), ...OPERATIONS) },
  },
  {
    topic: 'a service with too many requests',
    isBusy: true,
    rules: {
      'refuses more': rows(unavailable('1'), ...OPERATIONS),
      'still answers health checks and OPTIONS': [
        row(requestTo('GET', '/livez'), ok('{"live":true}')),
        row(requestTo('GET', '/readyz'), ok('{"ready":true}')),
        row(requestTo('OPTIONS', '/v1/pets'), { status: 204 }),
      ],
    },
  },
  {
    topic: 'the description of the service',
    rules: {
      'is the OpenAPI document, and a page': [
        row(
          requestTo('GET', '/openapi.json', bearer('nobody')),
          ok(/^\{\s*"openapi": ?"3\.1\.\d+"[^]*"version": ?"1\.0\.0"/),
        ),
        row(
          requestTo('GET', '/docs?x=y'),
          ok(/^<!doctype html>/i, {
            'Content-Type': 'text/html; charset=utf-8',
            'Content-Security-Policy': /script-src 'self'(?:;|$)/,
          }),
        ),
        row(requestTo('GET', '/'), { status: 307, headers: { Location: /docs$/ } }),
      ],
      async 'is a page whose files are all served'({ send }) {
        const page = await send(requestTo('GET', '/docs'));
        const links = page.body.matchAll(/ (?:href|src)="(?:\.?\/)?(docs\/[\w./-]+)"/g);
        const files = Array.from(links, ([, file]) => `/${file}`);
        assert.ok(files.length > 1, `the page has the files ${files.join(', ')}`);
        for (const file of files)
          assert.equal((await send(requestTo('GET', file))).status, 200, file);
      },
    },
  },
  {
    topic: 'with two allowed origins, pages',
    settings: { corsOrigins: [ONE[1], TWO[1]] },
    rules: {
      'of those may read every response': [
        readableBy(ONE, { status: 200 }, get('/pets')),
        readableBy(TWO, { status: 201 }, post(PET)),
        readableBy(ONE, { status: 304 }, get('/pets', ['If-None-Match', '*'])),
        readableBy(ONE, error(401, 'missing_api_key'), requestTo('GET', '/v1/pets')),
      ],
      'of any other origin may read nothing': rows(
        ok(undefined, { ...NO_CORS, Vary: 'Origin' }),
        get('/pets'),
        ...[
          'http://one.example',
          'https://one.example:8443',
          'https://one.example.evil',
          'null',
        ].map((origin) => get('/pets', ['Origin', origin])),
      ),
      'of those may send what the operations need': [
        row(preflight('/v1/pets', ONE), {
          status: 204,
          headers: {
            'Access-Control-Allow-Origin': ONE[1],
            'Access-Control-Allow-Methods': /(?=.*GET)(?=.*POST)/,
            'Access-Control-Allow-Headers':
              /(?=.*authorization)(?=.*content-type)(?=.*idempotency-key)/i,
          },
        }),
        row(preflight('/v1/pets', ONE, 'x-custom'), {
          status: 204,
          headers: { 'Access-Control-Allow-Headers': /x-custom/ },
        }),
        row(preflight('/v1/pets', ['Origin', 'https://two.example']), {
          status: 204,
          headers: { ...NO_CORS, 'Access-Control-Allow-Headers': null },
        }),
        row(
          preflight('/v1/orders', ONE),
          error(404, 'route_not_found', { headers: { 'Access-Control-Allow-Origin': ONE[1] } }),
        ),
      ],
    },
  },
  {
    topic: 'with all origins allowed, pages',
    settings: { corsOrigins: ['*'] },
    rules: {
      'may read every response': [
        row(get('/pets', ONE), ok(undefined, { 'Access-Control-Allow-Origin': '*', Vary: null })),
      ],
    },
  },
  {
    topic: 'by default, pages of other origins',
    rules: {
      'may read nothing': [row(get('/pets', ONE), ok(undefined, { ...NO_CORS, Vary: null }))],
    },
  },
];
