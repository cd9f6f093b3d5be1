import { openApiDocument, type HttpSettings } from '../../../src/adapters/http/index.js';
import {
  JSON_CONTENT,
  PET,
  bare,
  bearer,
  by,
  error,
  get,
  post,
  postAs,
  send,
  type Expectation,
  type Header,
  type Row,
  type RowRequest,
} from './request-row.js';
import type { Situation } from './wire-http.js';

const READ_ONLY = 'GET, HEAD, OPTIONS';

const wrongMethod = (allow: string | RegExp): Expectation =>
  error('method_not_allowed', {
    headers: { Allow: allow },
  });

/** Which methods a path has. */
const methods: Row[] = [
  ...['PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY'].map((method): Row => ({
    name: `answers 405 to ${method} /pets`,
    request: send(method, '/pets'),
    expect: wrongMethod('GET, HEAD, POST, OPTIONS'),
    socketOnly: method === 'TRACE' ? 'a Request must not be a TRACE' : undefined,
  })),
  {
    name: 'answers 405 to PROPFIND /pets/{petId}',
    request: send('PROPFIND', '/pets/{{pet}}'),
    expect: wrongMethod(READ_ONLY),
  },
  {
    name: 'answers 405 to POST /pets/{petId}, and adds nothing',
    request: { ...send('POST', '/pets/{{pet}}', JSON_CONTENT), body: PET },
    expect: { ...wrongMethod(READ_ONLY), closes: true },
  },
  {
    name: 'answers 404 to any method at an unknown path',
    request: send('DELETE', '/orders'),
    expect: error('route_not_found', { headers: { Allow: null } }),
  },
  ...['/livez', '/readyz', '/openapi.json', '/docs', '/'].flatMap((target): Row[] => [
    { name: `answers 405 to POST ${target}`, request: bare('POST', target), expect: wrongMethod(READ_ONLY) },
    {
      name: `names the methods of ${target}`,
      request: bare('OPTIONS', target),
      expect: { status: 204, headers: { Allow: READ_ONLY } },
    },
  ]),
  {
    name: 'answers 405 to CONNECT, and names the methods of the interface',
    request: { raw: 'CONNECT {{host}} HTTP/1.1\r\nHost: {{host}}\r\nX-Request-Id: tunnel\r\n\r\n' },
    expect: error('method_not_allowed', {
      headers: { Allow: /GET.*POST/, 'X-Request-Id': 'tunnel' },
      closes: true,
    }),
    socketOnly: 'clients send CONNECT to proxies only',
  },
];

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const BAD_IDS: ReadonlyArray<readonly [what: string, ...ids: string[]]> = [
  ['that is empty', ''],
  ['of 129 characters', 'x'.repeat(129)],
  ['with a space', 'a b'],
  ['with quotes', '"a"'],
  ['with a letter of another script', 'Ã©'],
  ['with a terminal escape', 'a%1b[31m'],
  ['that is sent twice', 'a', 'b'],
];

const requestIds: Row[] = [
  ...['a', 'Req_42.a-b', 'x'.repeat(128)].map((id): Row => ({
    name: `keeps a request id of ${id.length > 20 ? `${id.length} characters` : id}`,
    request: get('/pets?limit=1', ['X-Request-Id', id]),
    expect: { status: 200, headers: { 'X-Request-Id': id } },
  })),
  ...BAD_IDS.map(([what, ...ids]): Row => ({
    name: `replaces a request id ${what}`,
    request: get('/pets?limit=1', ...ids.map((id): Header => ['X-Request-Id', id])),
    expect: { status: 200, headers: { 'X-Request-Id': UUID } },
  })),
  {
    name: 'keeps the request id of an unknown path',
    request: bare('GET', '/nowhere', ['X-Request-Id', 'nowhere']),
    expect: error('route_not_found', { headers: { 'X-Request-Id': 'nowhere' } }),
  },
];

/** Headers that change nothing. */
const ignored: ReadonlyArray<
  readonly [name: string, request: RowRequest, expect: Expectation, socketOnly?: string]
> = [
  [
    'answers in JSON whatever a client accepts',
    get('/pets/{{pet}}', ['Accept', 'text/html, application/json;q=0']),
    { status: 200, headers: { 'Content-Type': 'application/json; charset=utf-8' } },
  ],
  [
    'does not let a header change the method',
    post(PET, ['X-HTTP-Method-Override', 'DELETE'], ['X-Method-Override', 'GET']),
    { status: 201 },
  ],
  [
    'says where an animal is whatever a proxy says about the address',
    post(
      PET,
      ['X-Forwarded-Host', 'evil.example'],
      ['X-Forwarded-Proto', 'https'],
      ['Forwarded', 'host=evil'],
    ),
    { status: 201, headers: { Location: /^\/v1\/pets\/\d+$/ } },
  ],
  [
    'links to the next page whatever the Host is',
    get('/pets?limit=1', ['Host', 'evil.example']),
    { status: 200, headers: { Link: /^<\/v1\/pets\?/ } },
  ],
  [
    'does not let a header change the path',
    get('/pets?limit=1', ['X-Original-URL', '/v1/orders'], ['X-Rewrite-URL', '/v1/orders']),
    { status: 200 },
  ],
  [
    'ignores the Range of a read',
    get('/pets/{{pet}}', ['Range', 'bytes=0-3']),
    { status: 200, headers: { 'Content-Range': null } },
  ],
  [
    'stays with HTTP/1.1 when a client asks for another protocol',
    get(
      '/pets?limit=1',
      ['Connection', 'Upgrade, HTTP2-Settings'],
      ['Upgrade', 'h2c'],
      ['HTTP2-Settings', ''],
    ),
    { status: 200, headers: { Upgrade: null } },
    'only what listens handles Connection',
  ],
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

const OK: Expectation = { status: 200 };

/** What clients get when something is wrong with the service or its store. */
const faults: Row[] = [
  ...OPERATIONS.flatMap(([operation, request]): Row[] => [
    {
      name: `answers 503 to ${operation} while the store is away, and reveals nothing of its inside`,
      given: 'storeAway',
      request,
      expect: unavailable('7'),
    },
    {
      name: `answers 503 to ${operation} when its deadline has passed`,
      given: 'storeStuck',
      request,
      expect: { ...unavailable('1'), within: 4000 },
    },
    {
      name: `answers 500 to ${operation} after an unexpected error, and reveals only the request id`,
      given: 'storeFaulty',
      request: { ...request, headers: [...request.headers, ['X-Request-Id', 'fault-1']] },
      expect: error('internal_error', { message: /^(?=.*fault-1)(?!.*secret)(?!.*TypeError)/ }),
    },
  ]),
  ...(
    [
      ['is not ready while the store is away', 'storeAway', '/readyz', unavailable('7')],
      ['is alive while the store is away', 'storeAway', '/livez', OK],
      ['serves the docs page while the store is away', 'storeAway', '/docs', OK],
      ['is ready while it is busy', 'busy', '/readyz', OK],
      ['is alive while it is busy', 'busy', '/livez', OK],
      ['serves no docs page while it is busy', 'busy', '/docs', unavailable('1')],
    ] as const
  ).map(([name, given, path, expect]): Row => ({ name, given, request: bare('GET', path), expect })),
  {
    name: 'answers 503 at once to requests beyond its capacity',
    given: 'busy',
    request: get('/pets'),
    expect: { ...unavailable('1'), within: 3000 },
  },
  {
    name: 'does not read the body of a create beyond its capacity',
    given: 'busy',
    request: post(PET),
    expect: { ...unavailable('1'), closes: true },
  },
];

/** Methods, headers and faults of the service. */
export const SERVICE: readonly Row[] = [
  ...methods,
  ...requestIds,
  ...ignored.map(([name, request, expect, socketOnly]): Row => ({ name, request, expect, socketOnly })),
  ...faults,
];

const published = (name: string, given: Situation, settings?: Partial<HttpSettings>): Row => ({
  name,
  given,
  request: bare('GET', '/openapi.json', bearer('nobody')),
  expect: { status: 200, body: openApiDocument(settings) },
});

const POLICY =
  /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$/;

const PAGE: Expectation = {
  status: 200,
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': POLICY,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    ETag: /^"[\w-]{22}"$/,
  },
};

const leadsTo = (location: string): Expectation => ({
  status: 307,
  headers: { Location: location, 'Content-Security-Policy': POLICY },
});

/** The OpenAPI document and the docs page. */
export const DOCS: readonly Row[] = [
  published('publishes the OpenAPI document, whatever the key', 'plain'),
  published('publishes the OpenAPI document while the store is away', 'storeAway'),
  published('documents the public address', 'publicUrl', { publicUrl: 'https://animals.example/shop/v1' }),
  published('documents another base path', 'otherBasePath', { basePath: '/animals/v1' }),
  published('documents how large bodies may be', 'smallBodies', { bodyLimit: 100 }),
  published('documents since when getPet is deprecated', 'deprecatedLater', {
    deprecatedSince: new Date('2029-02-28T00:00:00Z'),
  }),
  published('documents no getPet once it is switched off', 'getPetOff', { getPet: 'off' }),
  {
    name: 'serves the docs page without a key, under a strict policy',
    request: bare('GET', '/docs?x=y'),
    expect: PAGE,
  },
  { name: 'answers HEAD /docs', request: bare('HEAD', '/docs', bearer('nobody')), expect: PAGE },
  {
    name: 'answers 304 to a client that has the docs page',
    request: bare('GET', '/docs', ['If-None-Match', '*']),
    expect: { status: 304, headers: { 'Content-Security-Policy': POLICY, 'Content-Type': null } },
  },
  {
    name: 'sends the docs page to a client that has another one',
    request: bare('GET', '/docs', ['If-None-Match', '"other", W/"another"']),
    expect: PAGE,
  },
  {
    name: 'lets the docs page call the public address',
    given: 'publicUrl',
    request: bare('GET', '/docs'),
    expect: {
      status: 200,
      headers: { 'Content-Security-Policy': /; connect-src 'self' https:\/\/animals\.example; / },
    },
  },
  { name: 'leads from / to the docs page', request: bare('GET', '/'), expect: leadsTo('docs') },
  { name: 'leads from / to the docs page for HEAD', request: bare('HEAD', '/'), expect: leadsTo('docs') },
  { name: 'leads from /docs/ to the docs page', request: bare('GET', '/docs/'), expect: leadsTo('../docs') },
  ...[
    '/docs/page.html',
    '/docs/tsconfig.json',
    '/docs/../package.json',
    '/docs/..%2fpackage.json',
    '/Docs',
  ].map((target): Row => ({
    name: `serves nothing at ${target}`,
    request: bare('GET', target),
    expect: error('route_not_found', { headers: { 'WWW-Authenticate': null } }),
  })),
];

const ONE = 'https://one.example';
const origin = (value: string): Header => ['Origin', value];

const EXPOSED =
  'Link, Location, Deprecation, Sunset, ETag, Retry-After, X-Request-Id, Idempotency-Replayed, WWW-Authenticate';
const SENDABLE = 'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id';

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

const granted = (allowed: string, allow: string): Expectation => ({
  status: 204,
  headers: {
    ...NO_CORS,
    Allow: allow,
    'Access-Control-Allow-Origin': allowed,
    'Access-Control-Allow-Methods': allow,
    'Access-Control-Allow-Headers': SENDABLE,
    'Access-Control-Max-Age': '7200',
  },
});

/** Pages may read every response, errors too: otherwise they could not tell them apart. */
const READABLE: ReadonlyArray<readonly [what: string, request: RowRequest, expect: Expectation]> = [
  ['a list', get('/pets?limit=1', origin(ONE)), OK],
  ['a new animal', post(PET, origin(ONE)), { status: 201 }],
  ['a 304', get('/pets?limit=1', origin(ONE), ['If-None-Match', '*']), { status: 304 }],
  ['a 400', get('/pets?limit=0', origin(ONE)), error('invalid_parameter')],
  ['a 401', by(undefined, get('/pets', origin(ONE))), error('missing_api_key')],
  ['a 404', get('/orders', origin(ONE)), error('route_not_found')],
  ['a 405', send('DELETE', '/pets', origin(ONE)), error('method_not_allowed')],
  [
    'a 415',
    { ...postAs('text/plain'), headers: [...postAs('text/plain').headers, origin(ONE)] },
    error('unsupported_media_type'),
  ],
  ['liveness', bare('GET', '/livez', origin(ONE)), OK],
];

/** What pages of other origins may do (CORS). */
export const CROSS_ORIGIN: readonly Row[] = [
  ...READABLE.map(([what, request, expect]): Row => ({
    name: `lets pages of an allowed origin read ${what}`,
    given: 'twoOrigins',
    request,
    expect: { ...expect, headers: { ...readable(ONE), Vary: 'Origin' } },
  })),
  {
    name: 'lets pages of the second allowed origin read a list',
    given: 'twoOrigins',
    request: get('/pets?limit=1', origin('http://localhost:5173')),
    expect: { status: 200, headers: { ...readable('http://localhost:5173'), Vary: 'Origin' } },
  },
  {
    name: 'lets pages of any origin read a list, where all are allowed',
    given: 'anyOrigin',
    request: get('/pets?limit=1', origin(ONE)),
    expect: { status: 200, headers: { ...readable('*'), Vary: null } },
  },
  {
    name: 'says nothing to pages of other origins by default',
    request: get('/pets?limit=1', origin(ONE)),
    expect: { status: 200, headers: { ...NO_CORS, Vary: null } },
  },
  ...[
    'https://two.example',
    'http://one.example',
    'https://one.example:8443',
    'https://one.example.evil',
    'null',
  ].map((other): Row => ({
    name: `does not let pages of ${other} read a list`,
    given: 'twoOrigins',
    request: get('/pets?limit=1', origin(other)),
    expect: { status: 200, headers: { ...NO_CORS, Vary: 'Origin' } },
  })),
  {
    name: 'tells caches that responses differ by origin, even without one',
    given: 'twoOrigins',
    request: get('/pets?limit=1'),
    expect: { status: 200, headers: { ...NO_CORS, Vary: 'Origin' } },
  },
  {
    name: 'lets pages of an allowed origin send POST /pets, without a key',
    given: 'twoOrigins',
    request: preflight('/pets', ONE, 'POST'),
    expect: granted(ONE, 'GET, HEAD, POST, OPTIONS'),
  },
  {
    name: 'lets pages of an allowed origin send GET /pets/{petId}, without a key',
    given: 'twoOrigins',
    request: preflight('/pets/{{pet}}', ONE, 'GET'),
    expect: granted(ONE, READ_ONLY),
  },
  {
    name: 'lets pages of any origin send POST /pets, where all are allowed',
    given: 'anyOrigin',
    request: preflight('/pets', 'https://two.example', 'POST'),
    expect: granted('*', 'GET, HEAD, POST, OPTIONS'),
  },
  {
    name: 'does not let pages of another origin send POST /pets',
    given: 'twoOrigins',
    request: preflight('/pets', 'https://two.example', 'POST'),
    expect: { status: 204, headers: { ...NO_CORS, Vary: 'Origin' } },
  },
  {
    name: 'answers 404 to a preflight at an unknown path, without a key, and lets the page read it',
    given: 'twoOrigins',
    request: preflight('/orders', ONE, 'GET'),
    expect: error('route_not_found', { headers: { 'Access-Control-Allow-Origin': ONE } }),
  },
];
