import {
  JSON_CONTENT,
  PET,
  bearer,
  get,
  post,
  send,
  type Expectation,
  type Header,
  type Row,
} from './request-row.js';

const ONE = 'https://one.example';
const origin = (value: string): Header => ['Origin', value];
const asks = (method: string): Header => ['Access-Control-Request-Method', method];
const names: Header = ['Access-Control-Request-Headers', 'authorization,content-type'];

const EXPOSED =
  'Link, Location, Deprecation, Sunset, ETag, Retry-After, X-Request-Id, Idempotency-Replayed, WWW-Authenticate';
const SENDABLE = 'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id';

const NOTHING = {
  'Access-Control-Allow-Origin': null,
  'Access-Control-Expose-Headers': null,
  'Access-Control-Allow-Methods': null,
  'Access-Control-Allow-Headers': null,
  'Access-Control-Max-Age': null,
  'Access-Control-Allow-Credentials': null,
} as const;

const readable = (allowed: string): NonNullable<Expectation['headers']> => ({
  ...NOTHING,
  'Access-Control-Allow-Origin': allowed,
  'Access-Control-Expose-Headers': EXPOSED,
});

const preflight = (path: string, ...headers: Header[]): Row['request'] => ({
  method: 'OPTIONS',
  target: `{{base}}${path}`,
  headers,
});

const granted = (allowed: string, methods: string): Expectation => ({
  status: 204,
  headers: {
    ...NOTHING,
    Allow: methods,
    'Access-Control-Allow-Origin': allowed,
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': SENDABLE,
    'Access-Control-Max-Age': '7200',
  },
});

/** Every answer that a page can get says that the page may read it: errors too, or the page could not tell which. */
const ANSWERS: ReadonlyArray<readonly [what: string, request: Row['request'], expect: Expectation]> = [
  ['a list', get('/pets?limit=1', origin(ONE)), { status: 200 }],
  ['an animal', get('/pets/{{pet}}', origin(ONE)), { status: 200 }],
  ['a new animal', post(PET, origin(ONE)), { status: 201 }],
  ['what the page has already', get('/pets?limit=1', origin(ONE), ['If-None-Match', '*']), { status: 304 }],
  ['a wrong parameter', get('/pets?limit=0', origin(ONE)), { status: 400, code: 'invalid_parameter' }],
  [
    'a missing key',
    { method: 'GET', target: '{{base}}/pets', headers: [origin(ONE)] },
    { status: 401, code: 'missing_api_key' },
  ],
  [
    'a lacking scope',
    { ...get('/pets'), headers: [bearer('{{writeOnlyKey}}'), origin(ONE)] },
    { status: 403, code: 'insufficient_scope' },
  ],
  ['a path that is not served', get('/orders', origin(ONE)), { status: 404, code: 'route_not_found' }],
  ['a wrong method', send('DELETE', '/pets', origin(ONE)), { status: 405, code: 'method_not_allowed' }],
  [
    'a wrong media type',
    { ...send('POST', '/pets', ['Content-Type', 'text/plain'], origin(ONE)), body: PET },
    { status: 415, code: 'unsupported_media_type', closes: true },
  ],
  ['liveness', { method: 'GET', target: '/livez', headers: [origin(ONE)] }, { status: 200 }],
];

export const CROSS_ORIGIN: readonly Row[] = [
  ...ANSWERS.flatMap(([what, request, expect]): Row[] => [
    {
      name: `lets pages of an origin of the settings read ${what}`,
      given: 'twoOrigins',
      request,
      expect: { ...expect, headers: { ...readable(ONE), Vary: 'Origin' } },
    },
    {
      name: `lets pages of any origin read ${what}, where any may`,
      given: 'anyOrigin',
      request,
      expect: { ...expect, headers: { ...readable('*'), Vary: null } },
    },
    {
      name: `says nothing to pages of other origins beside ${what}, where no origins are set`,
      request,
      expect: { ...expect, headers: { ...NOTHING, Vary: null } },
    },
  ]),
  {
    name: 'lets pages of the second origin of the settings read',
    given: 'twoOrigins',
    request: get('/pets?limit=1', origin('http://localhost:5173')),
    expect: { status: 200, headers: { ...readable('http://localhost:5173'), Vary: 'Origin' } },
  },
  ...[
    'https://two.example',
    'http://one.example',
    'https://one.example:8443',
    'https://one.example.evil',
    'null',
    'https://ONE.example',
  ].map((other): Row => ({
    name: `answers a page of ${other} and lets it read nothing`,
    given: 'twoOrigins',
    request: get('/pets?limit=1', origin(other)),
    expect: { status: 200, headers: { ...NOTHING, Vary: 'Origin' } },
  })),
  {
    name: 'tells caches that answers differ by origin, also where none was sent',
    given: 'twoOrigins',
    request: get('/pets?limit=1'),
    expect: { status: 200, headers: { ...NOTHING, Vary: 'Origin' } },
  },
  ...(
    [
      ['/pets', 'POST', 'GET, HEAD, POST, OPTIONS'],
      ['/pets', 'GET', 'GET, HEAD, POST, OPTIONS'],
      ['/pets/{{pet}}', 'GET', 'GET, HEAD, OPTIONS'],
    ] as const
  ).flatMap(([path, method, methods]): Row[] => [
    {
      name: `lets pages of an origin of the settings send ${method} ${path}, without a key`,
      given: 'twoOrigins',
      request: preflight(path, origin(ONE), asks(method), names),
      expect: granted(ONE, methods),
    },
    {
      name: `lets pages of any origin send ${method} ${path}, where any may`,
      given: 'anyOrigin',
      request: preflight(path, origin('https://two.example'), asks(method), names),
      expect: granted('*', methods),
    },
    {
      name: `lets pages of another origin not send ${method} ${path}`,
      given: 'twoOrigins',
      request: preflight(path, origin('https://two.example'), asks(method), names),
      expect: { status: 204, headers: { ...NOTHING, Allow: methods, Vary: 'Origin' } },
    },
    {
      name: `lets pages of other origins not send ${method} ${path}, where no origins are set`,
      request: preflight(path, origin(ONE), asks(method), names),
      expect: { status: 204, headers: { ...NOTHING, Allow: methods, Vary: null } },
    },
  ]),
  {
    name: 'takes OPTIONS without a method asked for as no preflight',
    given: 'twoOrigins',
    request: preflight('/pets', origin(ONE)),
    expect: { status: 204, headers: { ...readable(ONE), Vary: 'Origin' } },
  },
  {
    name: 'needs a key for a preflight of a path that is not served, and lets the page see it',
    given: 'twoOrigins',
    request: preflight('/orders', origin(ONE), asks('GET')),
    expect: {
      status: 401,
      code: 'missing_api_key',
      headers: { 'Access-Control-Allow-Origin': ONE, 'Access-Control-Allow-Methods': null },
    },
  },
  {
    name: 'adds an animal for a page of an origin that may',
    given: 'twoOrigins',
    request: { ...send('POST', '/pets', JSON_CONTENT, origin(ONE)), body: PET },
    expect: { status: 201, headers: readable(ONE) },
  },
];
