import type { HttpSettings } from '../../../src/adapters/http/index.js';
import { openApiDocument } from '../../../src/adapters/http/open-api/open-api-document.js';
import {
  JSON_CONTENT,
  PET,
  asUtf8,
  bare,
  bearer,
  by,
  error,
  get,
  ok,
  post,
  row,
  send,
  type Expectation,
  type Header,
  type Row,
  type RowRequest,
} from './request-row.js';
import type { Situation } from './wire-http.js';

const READ_ONLY = 'GET, HEAD, OPTIONS';

const wrongMethod = (allow: string | RegExp): Expectation =>
  error('method_not_allowed', { headers: { Allow: allow } });

/** Which methods a path has. */
const methods = [
  ...['PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY'].map((method) =>
    row(
      `answers 405 to ${method} /pets`,
      send(method, '/pets'),
      wrongMethod('GET, HEAD, POST, OPTIONS'),
      {
        socketOnly: method === 'TRACE' ? 'a Request must not be a TRACE' : undefined,
      },
    ),
  ),
  row(
    'answers 405 to POST /pets/{petId}, and adds nothing',
    { ...send('POST', '/pets/{{pet}}', JSON_CONTENT), body: PET },
    wrongMethod(READ_ONLY),
  ),
  row(
    'answers 404 to any method at an unknown path',
    send('DELETE', '/orders'),
    error('route_not_found', { headers: { Allow: null } }),
  ),
  ...['/livez', '/readyz', '/openapi.json', '/docs', '/'].flatMap((target) => [
    row(`answers 405 to POST ${target}`, bare('POST', target), wrongMethod(READ_ONLY)),
    row(`names the methods of ${target}`, bare('OPTIONS', target), ok({ Allow: READ_ONLY }, 204)),
  ]),
  ...(
    [
      ['plain', /^GET, HEAD, POST, OPTIONS$/],
      ['experimental', /^GET, HEAD, POST, PATCH, DELETE, OPTIONS$/],
    ] as const
  ).map(([given, Allow]) =>
    row(
      `answers 405 to CONNECT, and names the methods of the whole interface (${given})`,
      { raw: 'CONNECT {{host}} HTTP/1.1\r\nHost: {{host}}\r\nX-Request-Id: tunnel\r\n\r\n' },
      error('method_not_allowed', { headers: { Allow, 'X-Request-Id': 'tunnel' }, closes: true }),
      { socketOnly: 'clients send CONNECT to proxies only', given },
    ),
  ),
];

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const BAD_IDS: ReadonlyArray<readonly [what: string, ...ids: string[]]> = [
  ['that is empty', ''],
  ['of 129 characters', 'x'.repeat(129)],
  ['with a space', 'a b'],
  ['with a letter of another script', asUtf8('é')],
  ['with a terminal escape', 'a%1b[31m'],
  ['that is sent twice', 'a', 'b'],
];

const requestIds = [
  ...['a', 'Req_42.a-b', 'x'.repeat(128)].map((id) =>
    row(
      `keeps a request id of ${id.length > 20 ? `${id.length} characters` : id}`,
      get('/pets?limit=1', ['X-Request-Id', id]),
      ok({ 'X-Request-Id': id }),
    ),
  ),
  ...BAD_IDS.map(([what, ...ids]) =>
    row(
      `replaces a request id ${what}`,
      get('/pets?limit=1', ...ids.map((id): Header => ['X-Request-Id', id])),
      ok({ 'X-Request-Id': UUID }),
    ),
  ),
];

/** Headers that change nothing. */
const ignored = [
  row(
    'answers in JSON whatever a client accepts',
    get('/pets/{{pet}}', ['Accept', 'text/html, application/json;q=0']),
    ok({ 'Content-Type': 'application/json; charset=utf-8' }),
  ),
  row(
    'does not let a header change the method',
    post(PET, ['X-HTTP-Method-Override', 'DELETE'], ['X-Method-Override', 'GET']),
    { status: 201 },
  ),
  row(
    'says where an animal is whatever a proxy says about the address',
    post(
      PET,
      ['X-Forwarded-Host', 'evil.example'],
      ['Forwarded', 'host=evil'],
      ['Host', 'evil.example'],
    ),
    ok({ Location: /^{{base}}\/pets\/\d+$/ }, 201),
  ),
  row(
    'ignores the Range of a read',
    get('/pets/{{pet}}', ['Range', 'bytes=0-3']),
    ok({ 'Content-Range': null }),
  ),
];

const unavailable = (retryAfter: string): Expectation =>
  error('service_unavailable', {
    message: /^(?!.*secret)(?!.*listing)/,
    headers: { 'Retry-After': retryAfter },
  });

const OPERATIONS: ReadonlyArray<readonly [operation: string, request: RowRequest]> = [
  ['listPets', get('/pets')],
  ['getPet', get('/pets/1')],
  ['createPet', post(PET)],
];

/** What clients get when something is wrong with the service or its store. */
const faults = [
  ...OPERATIONS.flatMap(([operation, request]) => [
    row(
      `answers 503 to ${operation} while the store is unreachable, and reveals nothing of its inside`,
      request,
      unavailable('7'),
      { given: 'storeUnreachable' },
    ),
    row(
      `answers 503 to ${operation} when its deadline has passed`,
      request,
      { ...unavailable('1'), within: 4000 },
      { given: 'storeStuck' },
    ),
    row(
      `answers 500 to ${operation} after an unexpected error, and reveals only the request id`,
      { ...request, headers: [...request.headers, ['X-Request-Id', 'fault-1']] },
      error('internal_error', { message: /^(?=.*fault-1)(?!.*secret)(?!.*TypeError)/ }),
      { given: 'storeFaulty' },
    ),
  ]),
  ...(
    [
      [
        'is not ready while the store is unreachable',
        'storeUnreachable',
        '/readyz',
        unavailable('7'),
      ],
      ['is alive while the store is unreachable', 'storeUnreachable', '/livez', ok()],
      ['serves the docs page while the store is unreachable', 'storeUnreachable', '/docs', ok()],
      ['is ready while it is busy', 'busy', '/readyz', ok()],
      ['is alive while it is busy', 'busy', '/livez', ok()],
      ['serves the docs page while a key has as much in progress as it may', 'busy', '/docs', ok()],
    ] as const
  ).map(([name, given, path, expect]) => row(name, bare('GET', path), expect, { given })),
  row(
    'answers 503 at once to requests beyond what a key may have in progress',
    get('/pets'),
    { ...unavailable('1'), within: 3000 },
    { given: 'busy' },
  ),
];

/** Methods, headers and faults of the service. */
export const SERVICE = [...methods, ...requestIds, ...ignored, ...faults];

const published = (name: string, given: Situation, settings?: Partial<HttpSettings>) =>
  row(
    name,
    bare('GET', '/openapi.json', bearer('nobody')),
    { status: 200, body: openApiDocument(settings) },
    { given },
  );

const POLICY =
  /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$/;

const PAGE = ok({
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  ETag: /^"[\w-]{22}"$/,
});

const leadsTo = (location: string): Expectation => ({
  status: 307,
  headers: { Location: location, 'Content-Security-Policy': POLICY },
});

/** The OpenAPI document and the docs page. */
export const DOCS = [
  published('publishes the OpenAPI document, whatever the key', 'plain'),
  published('publishes the OpenAPI document while the store is unreachable', 'storeUnreachable'),
  published('documents the public address', 'publicUrl', {
    publicUrl: 'https://animals.example/shop/v1',
  }),
  published('documents no getPet once it is switched off', 'getPetOff', { getPet: 'off' }),
  row('serves the docs page without a key, under a strict policy', bare('GET', '/docs?x=y'), PAGE),
  row(
    'answers 304 to a client that has the docs page',
    bare('GET', '/docs', ['If-None-Match', '*']),
    ok({ 'Content-Security-Policy': POLICY, 'Content-Type': null }, 304),
  ),
  row('leads from / to the docs page', bare('GET', '/'), leadsTo('docs')),
  ...[
    '/docs/',
    '/docs/tsconfig.json',
    '/docs/../package.json',
    '/docs/..%2fpackage.json',
    '/Docs',
  ].map((target) =>
    row(
      `serves nothing at ${target}`,
      bare('GET', target),
      error('route_not_found', { headers: { 'WWW-Authenticate': null } }),
    ),
  ),
];

const ONE = 'https://one.example';
const origin = (value: string): Header => ['Origin', value];

const EXPOSED =
  'Link, Location, Deprecation, Sunset, ETag, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, Idempotency-Replayed, WWW-Authenticate, Allow, Accept, Accept-Encoding, Accept-Patch';
/** The trace headers are those of W3C, B3, Jaeger, Sentry, Datadog, New Relic, Elastic, Dynatrace, Instana, AWS, Azure, Google and SkyWalking. */
const SENDABLE =
  'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id, ' +
  'traceparent, tracestate, baggage, b3, X-B3-TraceId, X-B3-SpanId, X-B3-ParentSpanId, X-B3-Sampled, X-B3-Flags, ' +
  'uber-trace-id, sentry-trace, x-datadog-trace-id, x-datadog-parent-id, x-datadog-origin, x-datadog-sampling-priority, ' +
  'x-datadog-tags, newrelic, elastic-apm-traceparent, x-dtc, x-dtpc, X-INSTANA-T, X-INSTANA-S, X-INSTANA-L, ' +
  'X-Amzn-Trace-Id, Request-Id, Request-Context, X-Cloud-Trace-Context, sw8';

const NO_CORS = {
  'Access-Control-Allow-Origin': null,
  'Access-Control-Expose-Headers': null,
  'Access-Control-Allow-Methods': null,
  'Access-Control-Allow-Headers': null,
  'Access-Control-Max-Age': null,
  'Access-Control-Allow-Credentials': null,
} as const;

const readable = (allowed: string): NonNullable<Expectation['headers']> => ({
  ...NO_CORS,
  'Access-Control-Allow-Origin': allowed,
  'Access-Control-Expose-Headers': EXPOSED,
});

const preflight = (path: string, from: string, method: string): RowRequest =>
  bare(
    'OPTIONS',
    `{{base}}${path}`,
    origin(from),
    ['Access-Control-Request-Method', method],
    ['Access-Control-Request-Headers', 'authorization,content-type'],
  );

const GRANTED: Expectation = {
  status: 204,
  headers: {
    ...NO_CORS,
    Allow: 'GET, HEAD, POST, OPTIONS',
    'Access-Control-Allow-Origin': ONE,
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, OPTIONS',
    'Access-Control-Allow-Headers': SENDABLE,
    'Access-Control-Max-Age': '7200',
  },
};

/** Pages may read every response, errors too: otherwise they could not tell them apart. */
const READABLE: ReadonlyArray<readonly [what: string, request: RowRequest, expect: Expectation]> = [
  ['a list', get('/pets?limit=1', origin(ONE)), ok()],
  ['a new animal', post(PET, origin(ONE)), { status: 201 }],
  ['a 304', get('/pets?limit=1', origin(ONE), ['If-None-Match', '*']), { status: 304 }],
  ['a 401', by(undefined, get('/pets', origin(ONE))), error('missing_api_key')],
  ['a 405', send('DELETE', '/pets', origin(ONE)), error('method_not_allowed')],
  ['liveness', bare('GET', '/livez', origin(ONE)), ok()],
];

const UNREADABLE = ok({ ...NO_CORS, Vary: 'Origin' });

/** A row on the service that two origins may use. */
const onTwo = (name: string, request: Row['request'], expect: Expectation, socketOnly?: string) =>
  row(name, request, expect, { given: 'twoOrigins', socketOnly });

/** What pages of other origins may do (CORS). */
export const CROSS_ORIGIN = [
  ...READABLE.map(([what, request, expect]) =>
    onTwo(`lets pages of an allowed origin read ${what}`, request, {
      ...expect,
      headers: { ...readable(ONE), Vary: 'Origin' },
    }),
  ),
  ...(
    [
      ['a 400 of the server', 'X-A : b', error('malformed_request')],
      ['a 417', 'Expect: foo', error('expectation_failed')],
      ['a 431', `X-A: ${'a'.repeat(17 * 1024)}`, error('headers_too_large')],
    ] as const
  ).map(([what, header, expect]) =>
    onTwo(
      `lets pages of an allowed origin read ${what}`,
      {
        raw: `GET {{base}}/pets HTTP/1.1\r\nHost: {{host}}\r\nOrigin: ${ONE}\r\n${header}\r\n\r\n`,
      },
      { ...expect, headers: { 'Access-Control-Allow-Origin': ONE } },
      'the server answers it',
    ),
  ),
  onTwo(
    'lets pages of the second allowed origin read a list',
    get('/pets?limit=1', origin('http://localhost:5173')),
    ok({ ...readable('http://localhost:5173'), Vary: 'Origin' }),
  ),
  row(
    'lets pages of any origin read a list, where all are allowed',
    get('/pets?limit=1', origin(ONE)),
    ok({ ...readable('*'), Vary: null }),
    { given: 'anyOrigin' },
  ),
  row(
    'says nothing to pages of other origins by default',
    get('/pets?limit=1', origin(ONE)),
    ok({ ...NO_CORS, Vary: null }),
  ),
  ...['http://one.example', 'https://one.example:8443', 'https://one.example.evil', 'null'].map(
    (other) =>
      onTwo(
        `does not let pages of ${other} read a list`,
        get('/pets?limit=1', origin(other)),
        UNREADABLE,
      ),
  ),
  onTwo(
    'tells caches that responses differ by origin, even without one',
    get('/pets?limit=1'),
    UNREADABLE,
  ),
  onTwo(
    'lets pages of an allowed origin send POST /pets, without a key',
    preflight('/pets', ONE, 'POST'),
    GRANTED,
  ),
  onTwo(
    'does not let pages of another origin send POST /pets',
    preflight('/pets', 'https://two.example', 'POST'),
    { ...UNREADABLE, status: 204 },
  ),
  onTwo(
    'answers 404 to a preflight at an unknown path, without a key, and lets the page read it',
    preflight('/orders', ONE, 'GET'),
    error('route_not_found', { headers: { 'Access-Control-Allow-Origin': ONE } }),
  ),
];
