import {
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
} from './request-row.js';
import { STATIC_KEYS } from './wire-http.js';

const REALM = 'Bearer realm="animal-store"';

const MISSING: Expectation = error('missing_api_key', { headers: { 'WWW-Authenticate': REALM } });
const INVALID: Expectation = error('invalid_api_key', {
  headers: { 'WWW-Authenticate': `${REALM}, error="invalid_token"` },
});

const JOINED = 'joined by a comma, the two are another scheme';
/** A valid key as the password. */
const BASIC: Header = [
  'Authorization',
  `Basic ${Buffer.from(`user:${STATIC_KEYS.key}`).toString('base64')}`,
];

/** What is sent instead of a valid key. */
const REFUSED: ReadonlyArray<
  readonly [what: string, headers: readonly Header[], expect: Expectation, socketOnly?: string]
> = [
  ['no Authorization header', [], MISSING],
  ['an empty Authorization header', [['Authorization', '']], MISSING],
  ['the word Bearer alone', [['Authorization', 'Bearer']], MISSING],
  ['Basic credentials', [BASIC], MISSING],
  ['the key under another scheme', [['Authorization', 'Token {{key}}']], MISSING],
  ['the key without a scheme', [['Authorization', '{{key}}']], MISSING],
  ['a tab for the space', [['Authorization', 'Bearer\t{{key}}']], MISSING],
  ['the key in X-API-Key', [['X-API-Key', '{{key}}']], MISSING],
  ['the key in a cookie', [['Cookie', 'Authorization=Bearer {{key}}; api_key={{key}}']], MISSING],
  ['an unknown key', [bearer('nobody-has-this-key')], INVALID],
  ['the key in upper case', [bearer('STATIC-KEY-0123456789')], INVALID],
  ['a no-break space more', [bearer('{{key}}\u00a0')], INVALID],
  ['a managed key with one character more', [bearer('{{managedKey}}0')], INVALID],
  ['the key and another word', [bearer('{{key}} {{key}}')], INVALID],
  ['two keys in one header', [bearer('{{key}}, Bearer {{key}}')], INVALID],
  ['a key of 8 KiB', [bearer('k'.repeat(8192))], INVALID],
  ['a key in UTF-8', [bearer(asUtf8('clé-d-or'))], INVALID],
  ['an expired key', [bearer('{{expiredKey}}')], INVALID],
  ['a revoked key', [bearer('{{revokedKey}}')], INVALID],
  ['two Authorization headers, the first of them valid', [bearer(), bearer('nobody')], INVALID],
  ['two Authorization headers, the second of them valid', [BASIC, bearer()], INVALID, JOINED],
  [
    'two Authorization headers, neither of them a bearer',
    [BASIC, BASIC],
    { ...INVALID, headers: { 'WWW-Authenticate': REALM } },
    JOINED,
  ],
  [
    'two Authorization headers, both of them empty',
    [
      ['Authorization', ''],
      ['Authorization', ''],
    ],
    { ...INVALID, headers: { 'WWW-Authenticate': REALM } },
    JOINED,
  ],
];

const SAYS_BEARER: Expectation = { ...INVALID, message: /begins with "Bearer"/ };

/** What programs send whose setting for the key holds the whole header. */
const TWICE_BEARER: ReadonlyArray<readonly [what: string, key: string]> = [
  ['the scheme twice', 'Bearer {{key}}'],
  ['the scheme twice in another case', 'bearer  {{key}}'],
  ['the scheme twice, and no key', 'Bearer'],
];

const ACCEPTED: ReadonlyArray<readonly [what: string, header: Header]> = [
  ['a static key', bearer()],
  ['a static key with every character that RFC 6750 allows', bearer('{{secondKey}}')],
  ['a managed key', bearer('{{managedKey}}')],
  ['a key whose scheme is in lower case', ['Authorization', 'bearer {{key}}']],
  ['a key in a header whose name is in lower case', ['authorization', 'Bearer {{key}}']],
  ['a key after several spaces', ['Authorization', 'Bearer   {{key}}']],
  [
    'a key with spaces and tabs around the header value',
    ['Authorization', ' \t Bearer {{key}} \t '],
  ],
];

const forbidden = (scope: string): Expectation =>
  error('insufficient_scope', {
    message: new RegExp(scope),
    headers: { 'WWW-Authenticate': `${REALM}, error="insufficient_scope", scope="${scope}"` },
  });

/** The clauses of a resource about keys: `path`, below the base path, is what GET reads of it. */
export const keysOf = (path: string) => [
  ...REFUSED.map(([what, headers, expect, socketOnly]) =>
    row(
      `answers 401 ${expect.code} to a list with ${what}`,
      bare('GET', `{{base}}${path}`, ...headers),
      expect,
      { socketOnly },
    ),
  ),
  ...TWICE_BEARER.map(([what, key]) =>
    row(
      `says to a list with ${what} that the key itself begins with it`,
      by(key, get(path)),
      SAYS_BEARER,
    ),
  ),
  row('says nothing of the scheme to a key that only looks like it', by('Bearer-1', get(path)), {
    ...INVALID,
    message: /^The API key is not valid\.$/,
  }),
  ...['api_key', 'access_token', 'Authorization'].map((name) =>
    row(
      `does not accept a key in the query as ${name}`,
      bare('GET', `{{base}}${path}?${name}={{key}}`),
      MISSING,
    ),
  ),
  ...ACCEPTED.map(([what, header]) =>
    row(
      `accepts ${what}`,
      bare('GET', `{{base}}${path}`, header),
      ok({ 'WWW-Authenticate': null }),
    ),
  ),
  row('lets a key that may only read GET a list', by('{{readOnlyKey}}', get(path)), ok()),
  ...['GET', 'HEAD'].map((method) =>
    row(
      `does not let a key that may only write ${method} a list`,
      by('{{writeOnlyKey}}', send(method, path)),
      forbidden('pets:read'),
    ),
  ),
];

/** Who may do what: keys, scopes, and what needs no key. */
export const AUTHENTICATION = [
  ...keysOf('/pets'),
  ...(
    [
      ['createPet', post(PET)],
      ['createPet with a body that is not JSON', post('{')],
      ['getPet', get('/pets/{{pet}}')],
      ['HEAD of listPets', send('HEAD', '/pets')],
      ['a method that is not allowed', send('DELETE', '/pets/{{pet}}')],
      ['an unknown path', get('/orders')],
      ['the base path itself', get('')],
    ] as const
  ).flatMap(([what, request]) => [
    row(`answers 401 to ${what} without a key`, by(undefined, request), MISSING),
    row(`answers 401 to ${what} with an unknown key`, by('nobody', request), INVALID),
  ]),
  row('lets a key that may write add an animal', by('{{writeOnlyKey}}', post(PET)), {
    status: 201,
  }),
  row(
    'does not let a key that may only read add an animal',
    by('{{readOnlyKey}}', post(PET)),
    forbidden('pets:write'),
  ),
  row(
    'does not let a key that may only write GET /pets/{petId}',
    by('{{writeOnlyKey}}', get('/pets/{{pet}}')),
    forbidden('pets:read'),
  ),
  row('is alive without a key', bare('GET', '/livez'), { status: 200, body: '{"live":true}' }),
  row('is ready without a key', bare('GET', '/readyz'), { status: 200, body: '{"ready":true}' }),
  row('ignores an invalid key where none is needed', bare('GET', '/livez', bearer('nobody')), {
    status: 200,
  }),
  row(
    'names the methods of /pets without a key',
    bare('OPTIONS', '{{base}}/pets'),
    ok({ Allow: 'GET, HEAD, POST, OPTIONS' }, 204),
  ),
  row(
    'names the methods of /pets/{petId} without a key',
    bare('OPTIONS', '{{base}}/pets/{{pet}}'),
    ok({ Allow: 'GET, HEAD, OPTIONS' }, 204),
  ),
  row(
    'needs no key for OPTIONS of an unknown path below the base path',
    bare('OPTIONS', '{{base}}/orders'),
    error('route_not_found', { headers: { 'WWW-Authenticate': null } }),
  ),
];
