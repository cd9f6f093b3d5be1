import type { Expectation, Header, Row, RowRequest } from './request-row.js';

/** A request without a key. */
const ask = (method: string, target: string, ...headers: Header[]): RowRequest => ({
  method,
  target,
  headers,
});

const POLICY =
  /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$/;

const FILES: ReadonlyArray<readonly [target: string, type: string]> = [
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/page.css', 'text/css; charset=utf-8'],
  ['/docs/page.js', 'text/javascript; charset=utf-8'],
  ['/docs/json-text.js', 'text/javascript; charset=utf-8'],
  ['/docs/icon.svg', 'image/svg+xml; charset=utf-8'],
];

const TAG = /^"[\w-]{22}"$/;

const found = (type: string): Expectation => ({
  status: 200,
  headers: {
    'Content-Type': type,
    'Content-Security-Policy': POLICY,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'WWW-Authenticate': null,
    ETag: TAG,
  },
});

const NO_ROUTE: Expectation = { status: 404, code: 'route_not_found', headers: { 'WWW-Authenticate': null } };

const leads = (location: string): Expectation => ({
  status: 307,
  headers: {
    Location: location,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': POLICY,
  },
});

/** The docs page, its files, and what leads to it. */
export const DOCS: readonly Row[] = [
  ...FILES.flatMap(([target, type]): Row[] => [
    {
      name: `serves ${target} without a key, under a policy that lets nothing else in`,
      request: ask('GET', target),
      expect: found(type),
    },
    { name: `answers HEAD ${target}`, request: ask('HEAD', target), expect: found(type) },
    {
      name: `says that ${target} was not changed to a client that knows any of it`,
      request: ask('GET', target, ['If-None-Match', '*']),
      expect: {
        status: 304,
        headers: { ETag: TAG, 'Content-Security-Policy': POLICY, 'Content-Type': null },
      },
    },
    {
      name: `serves ${target} to a client that knows another of it`,
      request: ask('GET', target, ['If-None-Match', '"other", W/"another"']),
      expect: found(type),
    },
    {
      name: `answers 405 to POST ${target}`,
      request: ask('POST', target),
      expect: { status: 405, code: 'method_not_allowed', headers: { Allow: 'GET, HEAD, OPTIONS' } },
    },
    {
      name: `tells the methods of ${target}`,
      request: ask('OPTIONS', target),
      expect: { status: 204, headers: { Allow: 'GET, HEAD, OPTIONS' } },
    },
  ]),
  {
    name: 'serves the docs page whatever key comes along',
    request: ask('GET', '/docs', ['Authorization', 'Bearer nobody']),
    expect: { status: 200 },
  },
  {
    name: 'ignores the query of the docs page',
    request: ask('GET', '/docs?from=elsewhere'),
    expect: found('text/html; charset=utf-8'),
  },
  {
    name: 'tells the docs page where the operations are',
    given: 'otherBasePath',
    request: ask('GET', '/docs'),
    expect: { status: 200, body: /<meta name="base-path" content="animals\/v1" \/>/ },
  },
  {
    name: 'lets the docs page ask the published address too',
    given: 'publicUrl',
    request: ask('GET', '/docs'),
    expect: {
      status: 200,
      headers: { 'Content-Security-Policy': /; connect-src 'self' https:\/\/animals\.example; / },
    },
  },
  {
    name: 'serves the docs page while the store is away',
    given: 'storeAway',
    request: ask('GET', '/docs'),
    expect: { status: 200 },
  },
  {
    name: 'serves no docs page while it is busy',
    given: 'busy',
    request: ask('GET', '/docs'),
    expect: { status: 503, code: 'service_unavailable', headers: { 'Retry-After': '1' } },
  },
  { name: 'leads from / to the docs page', request: ask('GET', '/'), expect: leads('docs') },
  { name: 'leads from / to the docs page, for HEAD too', request: ask('HEAD', '/'), expect: leads('docs') },
  { name: 'leads from /docs/ to the docs page', request: ask('GET', '/docs/'), expect: leads('../docs') },
  {
    name: 'answers 405 to POST /',
    request: ask('POST', '/'),
    expect: { status: 405, code: 'method_not_allowed', headers: { Allow: 'GET, HEAD, OPTIONS' } },
  },
  ...[
    '/docs/page.html',
    '/docs/page.ts',
    '/docs/page.d.ts',
    '/docs/page.js.map',
    '/docs/tsconfig.json',
    '/docs/tsconfig.tsbuildinfo',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/..%2fpackage.json',
    '/docs/page.js/',
    '/Docs',
    '//docs',
    '/doc',
  ].map((target): Row => ({
    name: `serves nothing of the docs page at ${target}`,
    request: ask('GET', target),
    expect: NO_ROUTE,
  })),
];
