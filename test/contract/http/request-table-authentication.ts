import { JSON_CONTENT, PET, bearer, type Expectation, type Header, type Row } from './request-row.js';

const REALM = 'Bearer realm="animal-store"';

const MISSING: Expectation = {
  status: 401,
  code: 'missing_api_key',
  headers: { 'WWW-Authenticate': REALM },
};
const INVALID: Expectation = {
  status: 401,
  code: 'invalid_api_key',
  headers: { 'WWW-Authenticate': `${REALM}, error="invalid_token"` },
};

interface Asked {
  readonly what: string;
  readonly method: string;
  /** Below the base path. */
  readonly path: string;
  readonly body?: string;
}

/** What may be asked for. */
const REQUESTS: readonly Asked[] = [
  { what: 'listPets', method: 'GET', path: '/pets' },
  { what: 'createPet', method: 'POST', path: '/pets', body: PET },
  { what: 'createPet with a body that is no JSON', method: 'POST', path: '/pets', body: '{' },
  { what: 'getPet', method: 'GET', path: '/pets/{{pet}}' },
  { what: 'getPet of an animal that is not there', method: 'GET', path: '/pets/9007199254740993' },
  { what: 'a HEAD of listPets', method: 'HEAD', path: '/pets' },
  { what: 'a method that is not served', method: 'DELETE', path: '/pets/{{pet}}' },
  { what: 'a path that is not served', method: 'GET', path: '/orders' },
  { what: 'the base path itself', method: 'GET', path: '' },
];

interface Refusal {
  readonly how: string;
  readonly headers: readonly Header[];
  readonly expect: Expectation;
  readonly socketOnly?: string;
}

/** Whether and how a key is sent, and what that leads to. */
const REFUSALS: readonly Refusal[] = [
  { how: 'no Authorization header', headers: [], expect: MISSING },
  { how: 'an empty Authorization header', headers: [['Authorization', '']], expect: MISSING },
  { how: 'the word Bearer alone', headers: [['Authorization', 'Bearer']], expect: MISSING },
  { how: 'an empty bearer', headers: [['Authorization', 'Bearer  ']], expect: MISSING },
  {
    how: 'Basic credentials',
    headers: [['Authorization', 'Basic dXNlcjp7e2tleX19']],
    expect: MISSING,
  },
  { how: 'the key under another scheme', headers: [['Authorization', 'Token {{key}}']], expect: MISSING },
  { how: 'the key without a scheme', headers: [['Authorization', '{{key}}']], expect: MISSING },
  { how: 'a tab for the space', headers: [['Authorization', 'Bearer\t{{key}}']], expect: MISSING },
  { how: 'no space', headers: [['Authorization', 'Bearer{{key}}']], expect: MISSING },
  { how: 'the key in X-API-Key', headers: [['X-API-Key', '{{key}}']], expect: MISSING },
  {
    how: 'the key in a cookie',
    headers: [['Cookie', 'Authorization=Bearer {{key}}; api_key={{key}}']],
    expect: MISSING,
  },
  {
    how: 'the key for a proxy',
    headers: [['Proxy-Authorization', 'Bearer {{key}}']],
    expect: MISSING,
  },
  { how: 'an unknown key', headers: [bearer('nobody-has-this-key')], expect: INVALID },
  { how: 'the key in upper case', headers: [bearer('STATIC-KEY-0123456789')], expect: INVALID },
  { how: 'one character more', headers: [bearer('{{key}}x')], expect: INVALID },
  { how: 'a no-break space more', headers: [bearer('{{key}}\u00a0')], expect: INVALID },
  { how: 'a managed key with one character more', headers: [bearer('{{managedKey}}0')], expect: INVALID },
  { how: 'the key and another word', headers: [bearer('{{key}} {{key}}')], expect: INVALID },
  { how: 'two keys in one header', headers: [bearer('{{key}}, Bearer {{key}}')], expect: INVALID },
  { how: 'a key in quotes', headers: [bearer('"{{key}}"')], expect: INVALID },
  { how: 'a key of 8 KiB', headers: [bearer('k'.repeat(8192))], expect: INVALID },
  { how: 'a key in UTF-8', headers: [bearer('clÃ©-d-or')], expect: INVALID },
  { how: 'an expired key', headers: [bearer('{{expiredKey}}')], expect: INVALID },
  { how: 'a revoked key', headers: [bearer('{{revokedKey}}')], expect: INVALID },
];

const JOINED = 'joined by a comma, the two are another scheme';

const REPEATED: readonly Refusal[] = [
  {
    how: 'two Authorization headers',
    headers: [bearer(), bearer()],
    expect: INVALID,
  },
  {
    how: 'two Authorization headers, the first of them good',
    headers: [bearer(), bearer('nobody')],
    expect: INVALID,
  },
  {
    how: 'two Authorization headers, the second of them good',
    headers: [['authorization', 'Basic eA=='], bearer()],
    expect: INVALID,
    socketOnly: JOINED,
  },
  {
    how: 'two Authorization headers, none of them a bearer',
    headers: [
      ['Authorization', 'Basic eA=='],
      ['Authorization', 'Basic eA=='],
    ],
    expect: { ...INVALID, headers: { 'WWW-Authenticate': REALM } },
    socketOnly: JOINED,
  },
];

const refusals: Row[] = REQUESTS.flatMap((asked) =>
  [...REFUSALS, ...REPEATED].map((refusal) => refused(asked, refusal)),
);

function refused({ what, method, path, body }: Asked, { how, headers, expect, socketOnly }: Refusal): Row {
  const target = `{{base}}${path}`;
  const request =
    body === undefined
      ? { method, target, headers }
      : { method, target, headers: [...headers, JSON_CONTENT], body };
  const name = `answers 401 ${expect.code} to ${what} with ${how}`;
  return { name, request, expect, socketOnly };
}

const inQuery: Row[] = ['api_key', 'access_token', 'key', 'Authorization'].map((name) => ({
  name: `does not take a key from the query as ${name}`,
  request: { method: 'GET', target: `{{base}}/pets?${name}={{key}}`, headers: [] },
  expect: MISSING,
}));

const list = (headers: readonly Header[]): Row['request'] => ({
  method: 'GET',
  target: '{{base}}/pets?limit=1',
  headers,
});

const SEEN: Expectation = { status: 200, headers: { 'WWW-Authenticate': null } };

const accepted: Row[] = [
  { name: 'takes a static key', request: list([bearer()]), expect: SEEN },
  {
    name: 'takes a static key of every character that RFC 6750 allows',
    request: list([bearer('{{secondKey}}')]),
    expect: SEEN,
  },
  { name: 'takes a managed key', request: list([bearer('{{managedKey}}')]), expect: SEEN },
  {
    name: 'takes a key whose scheme is in lower case',
    request: list([['Authorization', 'bearer {{key}}']]),
    expect: SEEN,
  },
  {
    name: 'takes a key whose scheme is in upper case',
    request: list([['Authorization', 'BEARER {{key}}']]),
    expect: SEEN,
  },
  {
    name: 'takes a key in a header whose name is in lower case',
    request: list([['authorization', 'Bearer {{key}}']]),
    expect: SEEN,
  },
  {
    name: 'takes a key after several spaces',
    request: list([['Authorization', 'Bearer   {{key}}']]),
    expect: SEEN,
  },
  {
    name: 'takes a key with spaces and tabs around the header value',
    request: list([['Authorization', ' \t Bearer {{key}} \t ']]),
    expect: SEEN,
  },
];

const scopes: Row[] = [
  {
    name: 'lets a key that may read list animals',
    request: list([bearer('{{readOnlyKey}}')]),
    expect: { status: 200 },
  },
  {
    name: 'lets a key that may read get an animal',
    request: { method: 'GET', target: '{{base}}/pets/{{pet}}', headers: [bearer('{{readOnlyKey}}')] },
    expect: { status: 200 },
  },
  {
    name: 'does not let a key that may only read add an animal',
    request: {
      method: 'POST',
      target: '{{base}}/pets',
      headers: [bearer('{{readOnlyKey}}'), JSON_CONTENT],
      body: PET,
    },
    expect: {
      status: 403,
      code: 'insufficient_scope',
      message: /pets:write/,
      headers: { 'WWW-Authenticate': `${REALM}, error="insufficient_scope", scope="pets:write"` },
      closes: true,
    },
  },
  {
    name: 'lets a key that may only write add an animal',
    request: {
      method: 'POST',
      target: '{{base}}/pets',
      headers: [bearer('{{writeOnlyKey}}'), JSON_CONTENT],
      body: PET,
    },
    expect: { status: 201 },
  },
  ...[
    { what: 'list animals', method: 'GET', path: '/pets' },
    { what: 'ask for the head of a list', method: 'HEAD', path: '/pets' },
    { what: 'get an animal', method: 'GET', path: '/pets/{{pet}}' },
  ].map(({ what, method, path }): Row => ({
    name: `does not let a key that may only write ${what}`,
    request: { method, target: `{{base}}${path}`, headers: [bearer('{{writeOnlyKey}}')] },
    expect: {
      status: 403,
      code: 'insufficient_scope',
      headers: { 'WWW-Authenticate': `${REALM}, error="insufficient_scope", scope="pets:read"` },
    },
  })),
];

const open: Row[] = [
  {
    name: 'is alive without a key',
    request: { method: 'GET', target: '/livez', headers: [] },
    expect: { status: 200, body: '{"live":true}' },
  },
  {
    name: 'is ready without a key',
    request: { method: 'GET', target: '/readyz', headers: [] },
    expect: { status: 200, body: '{"ready":true}' },
  },
  {
    name: 'does not look at a wrong key where none is needed',
    request: { method: 'GET', target: '/livez', headers: [bearer('nobody')] },
    expect: { status: 200 },
  },
  {
    name: 'tells the methods of /pets without a key',
    request: { method: 'OPTIONS', target: '{{base}}/pets', headers: [] },
    expect: { status: 204, headers: { Allow: 'GET, HEAD, POST, OPTIONS' } },
  },
  {
    name: 'tells the methods of /pets/{petId} without a key',
    request: { method: 'OPTIONS', target: '{{base}}/pets/{{pet}}', headers: [] },
    expect: { status: 204, headers: { Allow: 'GET, HEAD, OPTIONS' } },
  },
  {
    name: 'wants a key for OPTIONS of a path that is not served below the base path',
    request: { method: 'OPTIONS', target: '{{base}}/orders', headers: [] },
    expect: MISSING,
  },
];

export const AUTHENTICATION: readonly Row[] = [...refusals, ...inQuery, ...accepted, ...scopes, ...open];
