import { words } from '../samples.js';
import {
  PET,
  rows,
  authorized,
  requestTo,
  bearer,
  withKey,
  error,
  get,
  ok,
  post,
  row,
  type ExpectedResponse,
  type Header,
  type Topic,
} from './row.js';
import { KEYS } from './service-parts.js';

const REALM = 'Bearer realm="animal-store"';

const NO_KEY = error(401, 'missing_api_key', {
  message: /^An API key is needed: send the header Authorization: Bearer <API_KEY>\.$/,
  headers: { 'WWW-Authenticate': REALM },
});
const INVALID = error(401, 'invalid_api_key', {
  message:
    /^The API key is not valid: send it as Authorization: Bearer <API_KEY>, without quotes and with Bearer once\.$/,
  headers: { 'WWW-Authenticate': `${REALM}, error="invalid_token"` },
});

const forbidden = (scope: string): ExpectedResponse =>
  error(403, 'insufficient_scope', {
    message: new RegExp(scope),
    headers: { 'WWW-Authenticate': `${REALM}, error="insufficient_scope", scope="${scope}"` },
  });

const NO_ROUTE = error(404, 'route_not_found', {
  message: /the operations are below \/\S*v1, their description at \/openapi\.json/,
  headers: { 'WWW-Authenticate': null },
});

/** A list with these headers alone. */
const listWith = (...headers: Header[]) => requestTo('GET', '/v1/pets', ...headers);
const authorizedBy = (value: string) => listWith(['Authorization', value]);

const methodsOf = (path: string, Allow: string) =>
  row(requestTo('OPTIONS', path), { status: 204, headers: { Allow } });

/** Keys, scopes, paths and methods. */
export const ACCESS: readonly Topic[] = [
  {
    topic: 'API keys',
    rules: {
      'are required as a bearer token': rows(
        NO_KEY,
        listWith(),
        authorizedBy(`Basic ${Buffer.from(`user:${KEYS.all}`).toString('base64')}`),
        authorizedBy(KEYS.all),
        listWith(['X-API-Key', KEYS.all]),
        requestTo('GET', `/v1/pets?access_token=${KEYS.all}`),
      ),
      'are refused if they are not valid': rows(
        INVALID,
        listWith(bearer('nobody-has-this-key')),
        listWith(bearer(`${KEYS.all}, Bearer ${KEYS.all}`)),
        listWith(bearer(`Bearer ${KEYS.all}`)),
      ),
      'are refused with the reason if they have expired or were revoked': [
        row(
          listWith(bearer(KEYS.expired)),
          error(401, 'invalid_api_key', { message: /expired at 2026-11-20T00:00:00.000Z/ }),
        ),
        row(listWith(bearer(KEYS.revoked)), error(401, 'invalid_api_key', { message: /revoked/ })),
      ],
      'get no error="invalid_token" if "Bearer" is all that was sent': [
        row(authorizedBy('Bearer'), {
          ...INVALID,
          headers: { 'WWW-Authenticate': REALM },
        }),
      ],
      'are accepted in any case of the scheme and with every character that they may have': rows(
        ok(undefined, { 'WWW-Authenticate': null }),
        listWith(bearer(KEYS.second)),
        authorizedBy(`bearer ${KEYS.all}`),
        authorizedBy(`BEARER   ${KEYS.all}`),
      ),
      'are checked before anything else': [
        ...[
          get('/pets?limit=0'),
          get('/pets/abc'),
          post('{'),
          authorized('PUT', '/pets'),
          get('/orders'),
        ].map((request) => row(withKey(undefined, request), NO_KEY)),
        ...[get('/pets/1'), post('{}')].map((request) => row(withKey('nobody', request), INVALID)),
      ],
      'are not needed for health checks, the document and the docs page': rows(
        { status: 200 },
        requestTo('GET', '/livez'),
        requestTo('GET', '/readyz', bearer('nobody')),
        requestTo('GET', '/openapi.json'),
        requestTo('GET', '/docs'),
      ),
      'need the scope of the operation': [
        row(withKey(KEYS.reader, get('/pets/1')), { status: 200 }),
        row(withKey(KEYS.writer, post(PET)), { status: 201 }),
        row(withKey(KEYS.reader, post(PET)), forbidden('pets:write')),
        row(withKey(KEYS.writer, get('/pets')), forbidden('pets:read')),
        row(withKey(KEYS.writer, get('/pets/1')), forbidden('pets:read')),
        row(withKey(KEYS.writer, authorized('HEAD', '/pets')), forbidden('pets:read')),
      ],
    },
  },
  {
    topic: 'paths',
    rules: {
      'are not served if they differ from a known path in anything': rows(
        NO_ROUTE,
        get('/pets/1/2'),
        get('/store/orders'),
        requestTo('GET', '/V1/pets'),
        authorized('DELETE', '/orders'),
        requestTo('OPTIONS', '/v1/orders'),
      ),
    },
  },
  {
    topic: 'methods',
    rules: {
      'that a path does not have are refused': [
        ...words('PUT DELETE PROPFIND').map((name) =>
          row(
            authorized(name, '/pets'),
            error(405, 'method_not_allowed', {
              message: /GET, HEAD, POST, OPTIONS/,
              headers: { Allow: 'GET, HEAD, POST, OPTIONS' },
            }),
          ),
        ),
        ...rows(
          error(405, 'method_not_allowed', { headers: { Allow: 'GET, HEAD, OPTIONS' } }),
          { ...post(PET), path: '/v1/pets/1' },
          authorized('PATCH', '/pets/1'),
          authorized('DELETE', '/pets/1'),
          requestTo('POST', '/livez'),
        ),
      ],
      'of a path are named without a key': [
        methodsOf('/v1/pets', 'GET, HEAD, POST, OPTIONS'),
        methodsOf('/v1/pets/1', 'GET, HEAD, OPTIONS'),
        methodsOf('/livez', 'GET, HEAD, OPTIONS'),
      ],
    },
  },
  {
    topic: 'another base path',
    settings: { basePath: '/animals/v1' },
    rules: {
      'is where the operations are': [
        row(
          { ...get(''), path: '/animals/v1/pets?limit=1' },
          ok(/^\[\{"id":1,/, { Link: /^<[^<>?]*\?limit=1&after=1>; rel="next"$/ }),
        ),
        row(
          { ...post(PET), path: '/animals/v1/pets' },
          { status: 201, headers: { Location: '/animals/v1/pets/6' } },
        ),
        row(get('/pets'), NO_ROUTE),
        row(requestTo('GET', '/animals/v1/orders'), NO_KEY),
      ],
    },
  },
];
