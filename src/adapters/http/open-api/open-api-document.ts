import { PAGE_LIMIT } from '../../../application/call-rules.js';
import { stringifyJson } from '../../../json.js';
import { completeSettings, type GivenHttpSettings } from '../http-settings.js';
import { IDEMPOTENCY_KEY } from '../idempotency-key.js';
import { GET_PET_SUNSET } from '../operations.js';
import { SCHEMAS, int64 } from './schemas.js';

const ref = (name: keyof typeof SCHEMAS) => ({ $ref: `#/components/schemas/${name}` });
const json = (name: keyof typeof SCHEMAS) => ({ 'application/json': { schema: ref(name) } });

const header = (description: string, { required = true, type = 'string' } = {}) => ({
  description,
  required,
  schema: { type },
});

/** The headers of responses. Keys are their names, except `Successor`: the `Link` of getPet. */
const HEADERS = {
  'X-Request-Id': header(
    "Names the request in the log: the client's own value if it is 1 to 128 of `A-Za-z0-9._-`, " +
      'else a UUID.',
  ),
  ETag: header(
    'Identifies this response and its `Link` (RFC 9110, 8.8.3). Send it in `If-None-Match`.',
  ),
  Link: header(
    'The next page (RFC 8288): `<URL>; rel="next"`, relative to the request. Absent on the last ' +
      'page.',
    { required: false },
  ),
  Location: header('URL of the new animal (RFC 9110, 10.2.2).'),
  'Idempotency-Replayed': header('`true` for a replay.', { required: false }),
  'WWW-Authenticate': header(
    'What is wrong with the key (RFC 6750): with `error="insufficient_scope"`, `scope` names the ' +
      'missing scope.',
  ),
  'Retry-After': header('Seconds to wait before a retry (RFC 9110, 10.2.3).', { type: 'integer' }),
  Accept: header('The media type to send, if the type was wrong.', { required: false }),
  'Accept-Encoding': header('The encoding to send, if the encoding was wrong.', {
    required: false,
  }),
  Deprecation: header(
    'When the operation became deprecated (RFC 9745): `@` and seconds since 1970.',
  ),
  Sunset: header('When the operation may be removed, as an HTTP-date (RFC 8594).'),
  Successor: header('What to use instead (RFC 5829).'),
};

type HeaderName = keyof typeof HEADERS;

/** References to the headers of a response. Every response has `X-Request-Id`. */
const headerRefs = (...names: readonly HeaderName[]) => {
  const all: readonly HeaderName[] = ['X-Request-Id', ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
};

const error = (description: string, ...names: readonly HeaderName[]) => ({
  description,
  headers: headerRefs(...names),
  content: json('Error'),
});

/** Errors of the listening server, so without an operation's headers. A 400 of an operation replaces this one. */
const SERVER_ERRORS = {
  400: error('The request is not valid HTTP/1.1.'),
  408: error('The request did not come in time.'),
  431: error('The request line and headers are too large.'),
};

/** Errors of every operation. */
const OPERATION_ERRORS = {
  401: error('API key missing or invalid.', 'WWW-Authenticate'),
  403: error('The API key lacks the scope of the operation.', 'WWW-Authenticate'),
  500: error('An error of the service. A change may or may not have happened.'),
  503: error(
    'The store is unavailable, the request took too long, or there are too many requests. A ' +
      'change may or may not have happened.',
    'Retry-After',
  ),
};

const COMMON_ERRORS = { ...SERVER_ERRORS, ...OPERATION_ERRORS };

const BODY_ERRORS = {
  ...COMMON_ERRORS,
  400: error('The body is missing or invalid, or a parameter is invalid. Nothing was stored.'),
  413: error('The body is larger than the limit.'),
  415: error('The body is not JSON, or is compressed.', 'Accept', 'Accept-Encoding'),
};

const INVALID_PARAMETER = error('A parameter is invalid, misspelt or given twice.');
const NOT_FOUND = error('No animal with that identifier.');

const parameter = (where: string, name: string, description: string, schema: object) => ({
  name,
  in: where,
  description,
  schema,
});

const IF_NONE_MATCH = parameter(
  'header',
  'If-None-Match',
  'The `ETag` of an earlier response. If the response is unchanged, it is a 304 without a ' +
    'body.',
  { type: 'string' },
);

const PET_ID_PARAMETER = {
  ...parameter(
    'path',
    'petId',
    'Identifier of the animal. Anything other than a 64-bit integer matches no animal and gets ' +
      '404.',
    int64(),
  ),
  required: true,
  example: 1n,
};

const listPets = {
  operationId: 'listPets',
  tags: ['animals'],
  summary: 'List animals',
  description:
    'Returns a page of animals in ascending order of `id`. While there are more, the response ' +
    'has a `Link` with `rel="next"`: follow it as it is, and stop when there is none. Every ' +
    'animal that exists during the whole traversal, with the `status` if one is given, appears ' +
    'exactly once.\n\nNeeds the scope `pets:read`.',
  parameters: [
    parameter(
      'query',
      'limit',
      'Maximum number of animals returned. Invalid values are refused, not clamped.',
      { type: 'integer', format: 'int32', ...PAGE_LIMIT },
    ),
    parameter(
      'query',
      'status',
      'Returns only animals with this availability status. Default: all.',
      ref('PetStatus'),
    ),
    parameter(
      'query',
      'after',
      'Returns only animals with a greater `id`. The last `id` of a page leads to the next page, ' +
        'as its `Link` does.',
      int64(),
    ),
    IF_NONE_MATCH,
  ],
  responses: {
    200: {
      description: 'The animals of the page, at most `limit`.',
      headers: headerRefs('ETag', 'Link'),
      content: json('Pets'),
    },
    304: { description: 'Unchanged since the given `ETag`.', headers: headerRefs('ETag', 'Link') },
    ...COMMON_ERRORS,
    400: INVALID_PARAMETER,
  },
};

const createPet = {
  operationId: 'createPet',
  tags: ['animals'],
  summary: 'Add an animal',
  description:
    'Adds an animal and assigns its `id`. To retry the request safely, send an ' +
    '`Idempotency-Key`. After a 4xx response nothing was stored. After a 5xx the animal may have ' +
    'been added: retry with the same key.\n\nNeeds the scope `pets:write`.',
  parameters: [
    parameter(
      'header',
      'Idempotency-Key',
      'Makes retries safe. Use a new value, such as a UUID, for each animal. The same key with ' +
        'the same animal returns the first response again, with `Idempotency-Replayed: true`; ' +
        'with another animal it is 422. Double quotes around it are optional. It belongs to ' +
        'one API key, and is kept for 24 hours. A refused request does not use it up.',
      { type: 'string', pattern: IDEMPOTENCY_KEY.source },
    ),
  ],
  requestBody: {
    description: 'The animal, as uncompressed `application/json` in UTF-8.',
    required: true,
    content: json('NewPet'),
  },
  responses: {
    201: {
      description: 'The animal was added.',
      headers: headerRefs('Location', 'Idempotency-Replayed'),
      content: json('Pet'),
    },
    ...BODY_ERRORS,
    409: error('A create with the same `Idempotency-Key` is still in progress.', 'Retry-After'),
    422: error('The `Idempotency-Key` was used before, for another animal.'),
  },
};

const ADVICE =
  'Use `GET /pets` with the `status` filter instead. For one animal: `GET /pets?after=<id - ' +
  '1>&limit=1`. If the animal was removed, that returns the next one.';

const DEPRECATION_HEADERS = {
  ...headerRefs('Deprecation', 'Sunset'),
  Link: { $ref: '#/components/headers/Successor' },
};

/** Adds the headers of a deprecated operation to its responses. */
const withDeprecation = <T extends { readonly headers: object }>(
  responses: Readonly<Record<string, T>>,
) =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const headers = { ...response.headers, ...DEPRECATION_HEADERS };
      return [status, { ...response, headers }];
    }),
  );

const getPet = {
  operationId: 'getPet',
  tags: ['animals'],
  summary: 'Get an animal',
  description:
    'Returns one animal by its identifier.\n\n**Deprecated**, scheduled for removal on ' +
    `${GET_PET_SUNSET}. ${ADVICE}\n\nNeeds the scope \`pets:read\`.`,
  deprecated: true,
  'x-deprecated-sunset': GET_PET_SUNSET,
  'x-deprecated-reason': ADVICE,
  parameters: [PET_ID_PARAMETER, IF_NONE_MATCH],
  responses: {
    ...SERVER_ERRORS,
    ...withDeprecation({
      200: { description: 'The animal.', headers: headerRefs('ETag'), content: json('Pet') },
      304: { description: 'Unchanged since the given `ETag`.', headers: headerRefs('ETag') },
      ...OPERATION_ERRORS,
      404: NOT_FOUND,
    }),
  },
};

const FROM = parameter(
  'query',
  'from',
  'Acts only if the animal has this status now, else 409. Of several callers who sell an ' +
    'animal, one succeeds. Default: any status.',
  ref('PetStatus'),
);

const CHANGE_ERRORS = {
  404: NOT_FOUND,
  409: error('The animal does not have the status `from`. Nothing was changed.'),
  412: error('`If-Match` was sent: changes do not compare it. Nothing was changed.'),
};

const changePet = {
  operationId: 'changePet',
  tags: ['animals'],
  summary: 'Change an animal',
  description:
    'Changes the members that the body has. Omitted members stay as they are. After a 4xx ' +
    'response nothing was changed.\n\nNeeds the scope `pets:write`.',
  'x-stability': 'experimental',
  parameters: [PET_ID_PARAMETER, FROM],
  requestBody: {
    description: 'What changes, as a merge patch (RFC 7396): uncompressed JSON in UTF-8.',
    required: true,
    content: {
      'application/merge-patch+json': { schema: ref('PetChange') },
      ...json('PetChange'),
    },
  },
  responses: {
    200: { description: 'The animal as it is now.', headers: headerRefs(), content: json('Pet') },
    ...BODY_ERRORS,
    ...CHANGE_ERRORS,
  },
};

const removePet = {
  operationId: 'removePet',
  tags: ['animals'],
  summary: 'Remove an animal',
  description:
    'Removes an animal. Its `id` is never assigned again. A retry of its create still returns ' +
    'the first response, and does not add the animal again.\n\nNeeds the scope `pets:delete`.',
  'x-stability': 'experimental',
  parameters: [PET_ID_PARAMETER, FROM],
  responses: {
    204: { description: 'The animal was removed.', headers: headerRefs() },
    ...COMMON_ERRORS,
    400: INVALID_PARAMETER,
    ...CHANGE_ERRORS,
  },
};

/**
 * The OpenAPI 3.1 document of a service with these settings, as JSON text with exact integers. It declares every status
 * that an operation can respond with. The same settings give the same bytes.
 */
export function openApiDocument(given?: GivenHttpSettings): string {
  const { basePath, publicUrl, stagingUrl, experimental } = completeSettings(given);
  const { PetChange, ...schemas } = SCHEMAS;
  const document = {
    openapi: '3.1.1',
    info: {
      title: 'Animal Store',
      version: '1.0.0',
      description: 'The catalogue of the animals that a store offers. 64-bit integers are exact.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Without a public URL the server is the base path, written relative to /openapi.json.
    servers: [
      { url: publicUrl ?? basePath.slice(1), description: 'Production' },
      ...(stagingUrl === undefined ? [] : [{ url: stagingUrl, description: 'Staging' }]),
    ],
    tags: [{ name: 'animals', description: 'The animals of the store.' }],
    security: [{ bearerAuth: [] }],
    paths: {
      '/pets': { get: listPets, post: createPet },
      '/pets/{petId}': {
        get: getPet,
        ...(experimental.includes('changePet') && { patch: changePet }),
        ...(experimental.includes('removePet') && { delete: removePet }),
      },
    },
    components: {
      securitySchemes: {
        bearerAuth: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, as the bearer token.',
        },
      },
      schemas: { ...schemas, ...(experimental.includes('changePet') && { PetChange }) },
      headers: HEADERS,
    },
  };
  return `${stringifyJson(document, 2)}\n`;
}
