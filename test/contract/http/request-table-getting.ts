import { bearer, get, send, type Expectation, type Row } from './request-row.js';
import type { Situation } from './situation.js';

const NOT_FOUND: Expectation = { status: 404, code: 'pet_not_found' };
const NO_ROUTE: Expectation = { status: 404, code: 'route_not_found' };

/** A URL keeps no dot segments: whoever parses it resolves them, percent-encoded or not (WHATWG URL, 4.4). */
const resolvedByUrls = (target: string): string | undefined =>
  target.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))
    ? 'a URL resolves dot segments'
    : undefined;

const found: Row[] = [
  {
    name: 'gets an animal by its identifier',
    request: get('/pets/{{pet}}'),
    expect: {
      status: 200,
      body: '{"id":{{pet}},"name":"Ada","categoryId":-9223372036854775808,"status":"available"}',
    },
  },
  {
    name: 'ignores the query of getPet',
    request: get('/pets/{{pet}}?limit=0&status=x&fields=name'),
    expect: { status: 200 },
  },
  {
    name: 'gets the head of an animal',
    request: send('HEAD', '/pets/{{pet}}'),
    expect: { status: 200 },
  },
  {
    name: 'ignores a body that comes with getPet',
    request: { ...get('/pets/{{pet}}'), body: '{' },
    expect: { status: 200 },
    socketOnly: 'a Request that is a GET has no body',
  },
];

const notFound: Row[] = [
  ...['0', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808'].map((petId): Row => ({
    name: `finds no animal ${petId}, which is an int64 that none has`,
    request: get(`/pets/${petId}`),
    expect: NOT_FOUND,
  })),
  ...[
    'abc',
    '1.5',
    '1.0',
    '0x1',
    '0b1',
    '0o7',
    '9223372036854775808',
    '-9223372036854775809',
    '1%2F2',
    '007',
    '01',
    '00',
    '-01',
    '%ZZ',
    '%',
    '%4',
    '%C0%80',
    '%FF',
    '%00',
    '1%00',
    '%001',
    '1%0A',
    '%201',
    '1%20',
    '1%09',
    '%D9%A1',
    '%EF%BC%91',
    '%E2%91%A0',
    '+1',
    '%2B1',
    '-0',
    '-',
    '--1',
    '1e3',
    '1E0',
    '12345678901234567890',
    '1'.repeat(400),
    '1n',
    '1_000',
    '1,000',
    'null',
    'undefined',
    'NaN',
    'Infinity',
    'true',
    '[1]',
    '%7B%22$gt%22:0%7D',
    "1'--",
    '1;v=1',
    '1:1',
    '..',
    '.',
    '%2e%2e',
    '*',
    '__proto__',
    'constructor',
    '{petId}',
    ':petId',
    '%C2%A01',
    '1%E2%80%8B',
    '%EF%BB%BF1',
    '-%31.',
  ].map((petId): Row => ({
    name: `finds no animal ${petId.length > 30 ? `of ${petId.length} digits` : petId}, for it is no identifier`,
    request: get(`/pets/${petId}`),
    expect: NOT_FOUND,
    socketOnly: resolvedByUrls(petId),
  })),
  {
    name: 'answers a HEAD for an animal that is not there as a GET',
    request: send('HEAD', '/pets/0'),
    expect: NOT_FOUND,
  },
];

/** A target in a row's name: as it is with the default base path, for the first animal. */
const told = (target: string): string => target.replace('{{base}}', '/v1').replace('{{pet}}', '1');

const paths: Row[] = [
  ...[
    '{{base}}/pets/',
    '{{base}}/pets/{{pet}}/',
    '{{base}}/pets//',
    '{{base}}//pets',
    '{{base}}/pets/1/2',
    '{{base}}',
    '{{base}}/',
    '{{base}}/Pets',
    '{{base}}/PETS/{{pet}}',
    '{{base}}/pet',
    '{{base}}/petss',
    '{{base}}/pets;a=1',
    '{{base}}/pets%2F{{pet}}',
    '{{base}}/pets%20',
    '{{base}}/store/orders',

    '{{base}}/categories',
    '{{base}}/livez',
    '{{base}}/openapi.json',
    '{{base}}/../livez',
    '{{base}}/%2e%2e/livez',
    '{{base}}/%ZZ',
    '{{base}}/pets%00',
    '{{base}}/{{pet}}/pets',
    '{{base}}/v1/pets',
    '{{base}}/pets/{{pet}}/..',
  ].map((target): Row => ({
    name: `serves nothing at ${told(target)}`,
    request: { method: 'GET', target, headers: [bearer()] },
    expect: NO_ROUTE,
    socketOnly: resolvedByUrls(target),
  })),
  ...[
    '/V1/pets',
    '//pets',
    '/pets',
    '/v2/pets',
    '/v1x/pets',
    '/v1.0/pets',
    '/v',
    '//v1/pets',
    '/%2Fv1/pets',
    '/livez/',
    '/LIVEZ',
    '/readyz/x',
    '/openapi.json/',
    '/OpenAPI.json',
    '/favicon.ico',
    '/.git/config',
    '/metrics',
    '/%ZZ',
  ].map((target): Row => ({
    name: `serves nothing at ${target}, for which no key is wanted`,
    request: { method: 'GET', target, headers: [] },
    expect: { ...NO_ROUTE, headers: { 'WWW-Authenticate': null } },
  })),
  {
    name: 'serves nothing at a path that is not served, for HEAD too',
    request: send('HEAD', '/orders'),
    expect: NO_ROUTE,
  },
  {
    name: 'adds nothing at a path that is not served',
    request: {
      ...send('POST', '/pets/', ['Content-Type', 'application/json']),
      body: '{"name":"a","categoryId":1}',
    },
    expect: NO_ROUTE,
  },
  {
    name: 'takes a target in absolute form',
    request: {
      raw: 'GET http://elsewhere.example{{base}}/pets?limit=1 HTTP/1.1\r\nHost: {{host}}\r\nAuthorization: Bearer {{key}}\r\n\r\n',
    },
    expect: { status: 200 },
    socketOnly: 'clients send an absolute target to proxies only',
  },
  ...Object.entries({ 'with no authority': 'http://', 'of another scheme': 'ftp://{{host}}' }).map(
    ([what, origin]) => ({
      name: `serves nothing at a target in absolute form ${what}`,
      request: {
        raw: `GET ${origin}{{base}}/pets HTTP/1.1\r\nHost: {{host}}\r\nAuthorization: Bearer {{key}}\r\n\r\n`,
      },
      expect: NO_ROUTE,
      socketOnly: 'clients send an absolute target to proxies only',
    }),
  ),
  {
    name: 'wants a key for a target in absolute form too',
    request: { raw: 'GET http://{{host}}{{base}}/pets HTTP/1.1\r\nHost: {{host}}\r\n\r\n' },
    expect: { status: 401, code: 'missing_api_key' },
    socketOnly: 'clients send an absolute target to proxies only',
  },
  {
    name: 'serves nothing at the target *',
    request: { raw: 'OPTIONS * HTTP/1.1\r\nHost: {{host}}\r\n\r\n' },
    expect: NO_ROUTE,
    socketOnly: 'a URL cannot say it',
  },
  {
    name: 'serves the operations below another base path, where the settings say so',
    given: 'otherBasePath',
    request: { method: 'GET', target: '/animals/v1/pets?limit=1', headers: [bearer()] },
    expect: { status: 200, headers: { Link: /^<\/animals\/v1\/pets\?limit=1&cursor=\w+>; rel="next"$/ } },
  },
  {
    name: 'says where an animal is below another base path',
    given: 'otherBasePath',
    request: {
      method: 'POST',
      target: '/animals/v1/pets',
      headers: [bearer(), ['Content-Type', 'application/json']],
      body: '{"name":"a","categoryId":1}',
    },
    expect: { status: 201, headers: { Location: /^\/animals\/v1\/pets\/\d+$/ } },
  },
  {
    name: 'serves nothing below the default base path where the settings name another',
    given: 'otherBasePath',
    request: { method: 'GET', target: '/v1/pets', headers: [bearer()] },
    expect: NO_ROUTE,
  },
  {
    name: 'wants a key for a path that is not served below another base path',
    given: 'otherBasePath',
    request: { method: 'GET', target: '/animals/v1/orders', headers: [] },
    expect: { status: 401, code: 'missing_api_key' },
  },
  {
    name: 'wants no key for the first segment of another base path',
    given: 'otherBasePath',
    request: { method: 'GET', target: '/animals', headers: [] },
    expect: NO_ROUTE,
  },
  {
    name: 'is alive outside another base path',
    given: 'otherBasePath',
    request: { method: 'GET', target: '/livez', headers: [] },
    expect: { status: 200 },
  },
];

const DEPRECATED = {
  Deprecation: '@1795132800',
  Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  Link: '</v1/pets?status=available>; rel="successor-version"',
};

/** Whatever the route answers, it says that the operation is deprecated. */
const deprecated = (
  what: string,
  request: Row['request'],
  status: number,
  code?: Expectation['code'],
  given: Situation = 'plain',
): Row => ({
  name: `says that getPet is deprecated, when it goes and what replaces it, with ${what}`,
  given,
  request,
  expect: { status, ...(code === undefined ? {} : { code }), headers: DEPRECATED },
});

const deprecation: Row[] = [
  deprecated('an animal', get('/pets/{{pet}}'), 200),
  deprecated('the head of an animal', send('HEAD', '/pets/{{pet}}'), 200),
  deprecated('OPTIONS', send('OPTIONS', '/pets/{{pet}}'), 204),
  deprecated('401', { ...get('/pets/{{pet}}'), headers: [] }, 401, 'missing_api_key'),
  deprecated(
    '401 to a key that is none',
    { ...get('/pets/1'), headers: [bearer('x')] },
    401,
    'invalid_api_key',
  ),
  deprecated('403', { ...get('/pets/1'), headers: [bearer('{{writeOnlyKey}}')] }, 403, 'insufficient_scope'),
  deprecated('404', get('/pets/0'), 404, 'pet_not_found'),
  deprecated('404 to what is no identifier', get('/pets/abc'), 404, 'pet_not_found'),
  deprecated('405', send('DELETE', '/pets/{{pet}}'), 405, 'method_not_allowed'),
  deprecated('410', get('/pets/{{pet}}'), 410, 'operation_removed', 'getPetOff'),
  deprecated('500', get('/pets/1'), 500, 'internal_error', 'storeFaulty'),
  deprecated('503 of a store that is away', get('/pets/1'), 503, 'service_unavailable', 'storeAway'),
  deprecated('503 for being busy', get('/pets/1'), 503, 'service_unavailable', 'busy'),
];

const removal: Row[] = [
  {
    name: 'says since when getPet is deprecated as the settings say',
    given: 'deprecatedLater',
    request: get('/pets/{{pet}}'),
    expect: { status: 200, headers: { Deprecation: '@1866931200' } },
  },
  {
    name: 'answers 410 to getPet once it is switched off, naming what replaces it',
    given: 'getPetOff',
    request: get('/pets/{{pet}}'),
    expect: { status: 410, code: 'operation_removed', message: /\/v1\/pets\?status=available/ },
  },
  {
    name: 'answers 410 to a HEAD of getPet once it is switched off',
    given: 'getPetOff',
    request: send('HEAD', '/pets/{{pet}}'),
    expect: { status: 410, code: 'operation_removed' },
  },
  {
    name: 'lists the animals still when getPet is switched off',
    given: 'getPetOff',
    request: get('/pets?status=available'),
    expect: { status: 200 },
  },
  {
    name: 'makes the link to the successor absolute where the public address is known',
    given: 'publicUrl',
    request: get('/pets/{{pet}}'),
    expect: {
      status: 200,
      headers: { Link: '<https://animals.example/shop/v1/pets?status=available>; rel="successor-version"' },
    },
  },
  {
    name: 'makes the link to the next page absolute where the public address is known',
    given: 'publicUrl',
    request: get('/pets?limit=1'),
    expect: {
      status: 200,
      headers: {
        Link: /^<https:\/\/animals\.example\/shop\/v1\/pets\?limit=1&cursor=[\w-]+>; rel="next"$/,
      },
    },
  },
];

export const GETTING: readonly Row[] = [...found, ...notFound, ...paths, ...deprecation, ...removal];
