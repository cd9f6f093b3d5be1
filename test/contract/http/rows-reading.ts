import { words } from '../samples.js';
import {
  PET,
  bare,
  bearer,
  error,
  get,
  ok,
  post,
  row,
  send,
  type Expectation,
  type Header,
  type RowRequest,
} from './request-row.js';

const invalid = (message: RegExp): Expectation => error('invalid_parameter', { message });

const FIRST = '{"id":{{pet}},"name":"Ada","categoryId":-9223372036854775808,"status":"available"}';

const BAD_LIMITS = [
  '',
  ...words(
    '0 101 -1 abc 1.5 %2B5 05 1e1 0x10 %205 5%20 1,2 5%00 %D9%A5 9223372036854775808 %ZZ [5]',
  ),
];

const BAD_STATUSES = ['', ...words('unknown Available %20sold sold%00 available,sold * __proto__')];

const BAD_IDS = [
  '',
  ...words(
    'abc 1.5 %2B1 01 -0 1e1 0x1 %201 1%00 1,2 %D9%A1 %ZZ 9223372036854775808 -9223372036854775809',
  ),
  'a'.repeat(8000),
];

const link = (query: RegExp): Expectation =>
  ok({ Link: new RegExp(`^<{{base}}/pets\\?${query.source}>; rel="next"$`) });

const ONCE: ReadonlyArray<readonly [what: string, query: string, message: RegExp]> = [
  ['a limit twice', 'limit=5&limit=6', /limit .*once/],
  ['a limit twice, once with its name percent-encoded', 'limit=5&%6Cimit=5', /limit .*once/],
  ['a status twice', 'status=sold&status=pending', /status .*once/],
  ['after twice', 'after=1&after=1', /after .*once/],
  ['a status with brackets, as client libraries send arrays', 'status[]=sold', /status .*brackets/],
  ['a status with an index', 'status[0]=sold', /status .*brackets/],
  ['a status with percent-encoded brackets', 'status%5B%5D=sold&limit=1', /status .*brackets/],
  ['a limit with brackets beside one without', 'limit=5&limit[]=5', /limit .*brackets/],
  ['after with an operator', 'after[$gt]=1', /after .*brackets/],
  ['after with an operator behind a dot', 'after.gt=1', /after .*spelling/],
  ['a limit in capitals, as some languages write names', 'Limit=5', /limit .*spelling/],
  ['a limit in capitals beside one that is not', 'limit=5&LIMIT=5', /limit .*spelling/],
  ['a cursor of an older version, and names after', 'cursor=0', /cursor .*after/],
  ['a cursor of an older version beside after', '%63ursor=0&after=1', /cursor .*after/],
  [
    'several wrong parameters, and names each',
    'status=gone&limit=0&after=a&after=b&cursor=',
    /^(?=.*limit)(?=.*status)(?=.*after .*once)(?=.*cursor)/,
  ],
];

const ACCEPTED: ReadonlyArray<readonly [what: string, query: string]> = [
  ['a limit of 100', '?limit=100'],
  ['a percent-encoded limit', '?limit=%32%30'],
  ['a percent-encoded status', '?status=%73old'],
  ['any id to begin behind', '?status=sold&after={{pet}}'],
  ['the smallest id to begin behind', '?after=-9223372036854775808'],
  ['the greatest id to begin behind', '?after=9223372036854775807'],
  ['parameters whose names only contain after or cursor', '?xafter=x&cursors=1&xcursor=1'],
  ['unknown parameters with brackets', '?limits[]=0&filter[Status]=x&[status]=x&xAfter[]=x'],
  ['an empty query', '?'],
  ['a query of separators only', '?&&=&'],
  ['a query of 1,500 unknown parameters', `?${'a&'.repeat(1500)}limit=1`],
];

const LINKS: ReadonlyArray<readonly [what: string, query: string, next: RegExp]> = [
  ['repeats the filter', 'status=sold&limit=1', /status=sold&limit=1&after=\d+/],
  ['replaces after', 'after={{pet}}&limit=1', /limit=1&after=(?!{{pet}}>)\d+/],
  [
    'replaces an after whose name is percent-encoded',
    '%61fter={{pet}}&limit=1',
    /limit=1&after=(?!{{pet}}>)\d+/,
  ],
  [
    'repeats parameters whose names only contain after',
    'xafter=1&afters=2&limit=1',
    /xafter=1&afters=2&limit=1&after=\d+/,
  ],
  [
    'repeats unknown parameters',
    'utm=a%26b&limit=1&utm=%C3%A9&flag',
    /utm=a%26b&limit=1&utm=%C3%A9&flag=?&after=\d+/,
  ],
  [
    'repeats an unknown parameter that is not UTF-8',
    'x=%FF%00&limit=1',
    /x=%FF%00&limit=1&after=\d+/,
  ],
  ['omits empty parameters', '&limit=1&', /limit=1&after=\d+/],
  [
    'omits unknown parameters that would make it long, and those alone',
    `limit=1&${'x=1&'.repeat(980)}%73tatus=sold&y`,
    /limit=1&%73tatus=sold&after=\d+/,
  ],
  [
    'omits an unknown parameter that is long only once it is encoded',
    `limit=1&x=${'>'.repeat(700)}`,
    /limit=1&after=\d+/,
  ],
  ['repeats a second question mark', '?limit=0&limit=1', /\?limit=0&limit=1&after=\d+/],
  [
    'cannot be ended by a parameter',
    'x=%3E&y=>;rel="evil"&limit=1',
    /x=%3E&y=%3E;rel=%22evil%22&limit=1&after=\d+/,
  ],
];

/** Parameters and pages of listPets. */
export const LISTING = [
  ...BAD_LIMITS.map((limit) =>
    row(
      `refuses a limit of ${limit || 'nothing'}`,
      get(`/pets?limit=${limit}`),
      invalid(/limit .*1 to 100/),
    ),
  ),
  ...BAD_STATUSES.map((status) =>
    row(
      `refuses a filter by status ${status || 'nothing'}`,
      get(`/pets?status=${status}`),
      invalid(/status .*available, pending, sold/),
    ),
  ),
  ...BAD_IDS.map((after) =>
    row(
      `refuses to begin behind ${after.slice(0, 20) || 'nothing'}`,
      get(`/pets?after=${after}`),
      invalid(/after .*64-bit integer/),
    ),
  ),
  ...ONCE.map(([what, query, message]) =>
    row(`refuses ${what}`, get(`/pets?${query}`), invalid(message)),
  ),
  ...ACCEPTED.map(([what, query]) => row(`lists animals for ${what}`, get(`/pets${query}`), ok())),
  row('lists animals as a bare array, with a link to the next page', get('/pets?limit=1'), {
    ...link(/limit=1&after=\d+/),
    body: `[${FIRST}]`,
  }),
  ...LINKS.map(([what, query, next]) =>
    row(`links to the next page, and the link ${what}`, get(`/pets?${query}`), link(next)),
  ),
  row(
    'does not link from the last page',
    get('/pets?status=pending&limit=100'),
    ok({ Link: null }),
  ),
];

const READ_ONLY = 'GET, HEAD, OPTIONS';

/** Anything that is not the text of an int64 is the id of no animal. */
const ABSENT_IDS = [
  ...words('0 -1 9007199254740993 9223372036854775807 9223372036854775808 -9223372036854775809'),
  ...words('abc 1.5 1.0 0x1 1e3 1%2F2 007 -0 %2B1 %ZZ %FF 1%00 %201 1%0A %D9%A1 %EF%BC%91'),
  ...words('{petId} .. %2e%2e __proto__'),
  '1'.repeat(400),
];

/** URLs keep no dot segments: every parser resolves them, percent-encoded or not (WHATWG URL, 4.4). */
const resolvedByUrls = (target: string): string | undefined =>
  target.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))
    ? 'a URL resolves dot segments'
    : undefined;

const DEPRECATED = {
  Deprecation: '@1795132800',
  Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  Link: '<{{base}}/pets?status=available>; rel="successor-version"',
};

/** getPet, its deprecation and its removal. */
export const GETTING = [
  row(
    'gets an animal by its id, and says since when getPet is deprecated, when it ends and what replaces it',
    get('/pets/{{pet}}'),
    { status: 200, headers: DEPRECATED, body: FIRST },
  ),
  row('ignores the query of getPet', get('/pets/{{pet}}?limit=0&status=x&fields=name'), ok()),
  row('ignores the body of getPet', { ...get('/pets/{{pet}}'), body: '{' }, ok(), {
    socketOnly: 'a GET of a Request has no body',
  }),
  ...ABSENT_IDS.map((petId) =>
    row(
      `finds no animal with the id ${petId.length > 30 ? `of ${petId.length} digits` : petId}`,
      get(`/pets/${petId}`),
      error('pet_not_found'),
      { socketOnly: resolvedByUrls(petId) },
    ),
  ),
  row(
    'says since when getPet is deprecated as the settings say',
    get('/pets/{{pet}}'),
    ok({ Deprecation: '@1866931200' }),
    { given: 'deprecatedLater' },
  ),
  row(
    'answers 410 to getPet once it is switched off, and names its replacement',
    get('/pets/{{pet}}'),
    error('operation_removed', {
      message: /use GET \S*\/v1\/pets\?after=<id - 1>&limit=1/,
      headers: DEPRECATED,
    }),
    { given: 'getPetOff' },
  ),
  row(
    'does not name GET among the methods of an animal once getPet is switched off',
    send('PUT', '/pets/{{pet}}'),
    error('method_not_allowed', { headers: { Allow: 'OPTIONS' } }),
    { given: 'getPetOff' },
  ),
];

const NO_ROUTE: Expectation = error('route_not_found');

const absolute = (
  name: string,
  origin: string,
  expect: Expectation,
  headers = 'Host: {{host}}\r\nAuthorization: Bearer {{key}}\r\n',
) =>
  row(name, { raw: `GET ${origin}{{base}}/pets?limit=1 HTTP/1.1\r\n${headers}\r\n` }, expect, {
    socketOnly: 'clients send an absolute target to proxies only',
  });

const inOtherBasePath = (name: string, request: RowRequest, expect: Expectation) =>
  row(`${name}, with another base path`, request, expect, { given: 'otherBasePath' });

/** Which paths exist. */
export const PATHS = [
  ...words(
    '/pets/ /pets/{{pet}}/ //pets /pets/1/2 / /Pets /petss /pets;a=1 /pets%2F{{pet}} /pets%20 /store/orders' +
      ' /livez /%2e%2e/livez /%ZZ /pets/{{pet}}/..',
  ).map((path) =>
    row(`answers 404 at /v1${path.replace('{{pet}}', '1')}`, get(path), NO_ROUTE, {
      socketOnly: resolvedByUrls(path),
    }),
  ),
  ...words('/V1/pets //pets /pets /v2/pets /v1x/pets //v1/pets /livez/ /LIVEZ /%ZZ').map((target) =>
    row(`answers 404 at ${target}, without asking for a key`, bare('GET', target), {
      ...NO_ROUTE,
      headers: { 'WWW-Authenticate': null },
    }),
  ),
  absolute('accepts a target in absolute form', 'http://elsewhere.example', ok()),
  absolute('answers 404 to an absolute target without a host', 'http://', NO_ROUTE),
  absolute('answers 404 to an absolute target with another scheme', 'ftp://{{host}}', NO_ROUTE),
  absolute(
    'asks for a key for a target in absolute form',
    'http://{{host}}',
    error('missing_api_key'),
    'Host: {{host}}\r\n',
  ),
  row(
    'answers OPTIONS for the target *, and 404 to other methods',
    { raw: 'OPTIONS * HTTP/1.1\r\nHost: {{host}}\r\n\r\nGET * HTTP/1.1\r\nHost: {{host}}\r\n\r\n' },
    { status: 204, headers: { Allow: 'GET, HEAD, POST, OPTIONS' }, further: [NO_ROUTE] },
    { socketOnly: 'a URL cannot say it' },
  ),
  ...(
    [
      ['GET http://a', { status: 307, headers: { Location: 'docs' } }],
      ['GET http://a?x=1', { status: 307, headers: { Location: 'docs' } }],
      ['POST https://a', error('method_not_allowed', { headers: { Allow: READ_ONLY } })],
      ['OPTIONS http://a/', ok({ Allow: READ_ONLY }, 204)],
      ['OPTIONS http://a?', ok({ Allow: READ_ONLY }, 204)],
      ['OPTIONS http://a', ok({ Allow: 'GET, HEAD, POST, OPTIONS' }, 204)],
      ['OPTIONS HTTP://a:80', ok({ Allow: 'GET, HEAD, POST, OPTIONS' }, 204)],
    ] as const
  ).map(([line, expect]) =>
    row(
      `takes the empty path of ${line} for ${line.startsWith('OPTIONS') && !/[/?]$/.test(line) ? '*' : '/'}`,
      { raw: `${line} HTTP/1.1\r\nHost: {{host}}\r\n\r\n` },
      expect,
      { socketOnly: 'clients send an absolute target to proxies only' },
    ),
  ),
  inOtherBasePath(
    'lists animals and links to the next page',
    get('/pets?limit=1'),
    link(/limit=1&after=\d+/),
  ),
  inOtherBasePath(
    'says where a new animal is',
    post(PET),
    ok({ Location: /^{{base}}\/pets\/\d+$/ }, 201),
  ),
  inOtherBasePath('answers 404 below the default one', bare('GET', '/v1/pets', bearer()), NO_ROUTE),
  inOtherBasePath(
    'asks for a key below it',
    bare('GET', '{{base}}/orders'),
    error('missing_api_key'),
  ),
  inOtherBasePath('asks for no key at its first segment', bare('GET', '/animals'), NO_ROUTE),
  inOtherBasePath('is alive outside it', bare('GET', '/livez'), ok()),
];

const ETAG = /^"[\w-]{22}"$/;
const ifNoneMatch = (value: string): Header => ['If-None-Match', value];

/** As RFC 9110, 15.4.5 requires: the headers of the 200, except those that describe its body. */
const NOT_MODIFIED: Expectation = {
  status: 304,
  headers: { ETag: ETAG, 'Content-Type': null, 'Content-Length': null },
  body: '',
};

/** Reads of what the client has already. `{{listTag}}` and `{{petTag}}` are tags that the service gave. */
export const CONDITIONAL = [
  ...(
    [
      ['the tag', '{{petTag}}'],
      ['the tag as a weak one', 'W/{{petTag}}'],
      ['the tag among empty members', ' ,, {{petTag}},'],
      ['the tag among others', '"other", W/"another" ,{{petTag}}, "third"'],
      ['a star', '*'],
    ] as const
  ).map(([what, value]) =>
    row(
      `answers 304 to getPet with ${what} in If-None-Match`,
      get('/pets/{{pet}}', ifNoneMatch(value)),
      NOT_MODIFIED,
    ),
  ),
  row(
    'answers 304 where the second of two If-None-Match headers has the tag',
    get('/pets/{{pet}}', ifNoneMatch('"other"'), ifNoneMatch('{{petTag}}')),
    NOT_MODIFIED,
  ),
  row(
    'answers 304 to listPets with the tag, and links to the next page',
    get('/pets?limit=1', ifNoneMatch('{{listTag}}')),
    { ...NOT_MODIFIED, headers: { ...NOT_MODIFIED.headers, Link: /rel="next"/ } },
  ),
  row(
    'answers 304 to HEAD',
    send('HEAD', '/pets?limit=1', ifNoneMatch('{{listTag}}')),
    NOT_MODIFIED,
  ),
  ...(
    [
      ['another tag', '"other"'],
      ['the tag of something else', '{{listTag}}'],
      ['the tag without its quotes', '{{petTagText}}'],
      ['a star in quotes', '"*"'],
      ['a star among tags', '"other", *'],
    ] as const
  ).map(([what, value]) =>
    row(
      `sends the animal to getPet with ${what} in If-None-Match`,
      get('/pets/{{pet}}', ifNoneMatch(value)),
      ok({ ETag: ETAG }),
    ),
  ),
  ...['/pets', '/pets/{{pet}}'].flatMap((path) => [
    row(
      `answers 412 to GET ${path} with other tags in If-Match`,
      get(path, ['If-Match', '"x", "y"']),
      error('precondition_failed'),
    ),
    row(
      `sends GET ${path} whatever it is to If-Match: *`,
      get(path, ['If-Match', '*']),
      ok({ ETag: ETAG }),
    ),
  ]),
  row(
    'sends the animal whose tag is in If-Match',
    get('/pets/{{pet}}', ['If-Match', '"x", {{petTag}}']),
    ok({ ETag: '{{petTag}}' }),
  ),
  row(
    'checks If-Match before If-None-Match',
    get('/pets/{{pet}}', ['If-Match', '"x"'], ifNoneMatch('{{petTag}}')),
    error('precondition_failed'),
  ),
  row(
    'answers 404 whatever If-None-Match says',
    get('/pets/0', ifNoneMatch('*')),
    error('pet_not_found', { headers: { ETag: null } }),
  ),
];
