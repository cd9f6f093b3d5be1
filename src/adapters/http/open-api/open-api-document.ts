import { stringifyJson } from '../../../exact-json.js';
import { ERRORS, type ErrorCode, type ErrorDescription } from '../error-codes.js';
import { completeSettings, type HttpSettings } from '../http-settings.js';
import { reference, type Keywords } from '../json-schema.js';
import {
  errorExample,
  isRemoved,
  servedPaths,
  type Operation,
  type Parameter,
} from '../operations.js';
import { COMPONENTS } from '../schemas.js';
import { HEADERS, type DocumentedHeader, type HeaderName } from './headers.js';

const TAG = { name: 'animals', description: 'The animals of the store.' };

/** Errors of the listening server itself, before the operation is known. */
const OF_THE_MESSAGE: readonly ErrorCode[] = [
  'malformed_request',
  'request_timeout',
  'expectation_failed',
  'headers_too_large',
];

/** Further errors of every operation. */
const OF_EVERY: readonly ErrorCode[] = [
  'missing_api_key',
  'invalid_api_key',
  'internal_error',
  'service_unavailable',
];

/**
 * The OpenAPI 3.1 document of a service with these settings, as JSON text with exact integers. It declares every status
 * that the service can respond with, and no other. The same settings give the same bytes.
 */
export function openApiDocument(given: Partial<HttpSettings> = {}): string {
  const settings = completeSettings(given);
  const { basePath, publicUrl, stagingUrl } = settings;
  const operations = paths(settings);
  // What no served operation refers to is left out. Schemas refer to each other.
  const referrers = stringifyJson([operations, COMPONENTS]);
  // References are JSON texts such as "#/components/schemas/Pet".
  const isUsed = ([name]: readonly [string, unknown]): boolean => referrers.includes(`/${name}"`);
  const headers = Object.entries<DocumentedHeader>(HEADERS)
    .filter(isUsed)
    .map(([name, { description, optional, type = 'string' }]) => {
      return [name, { description, required: !optional, schema: { type } }];
    });
  const document = {
    openapi: '3.1.1',
    info: {
      title: 'Animal Store',
      version: '1.0.0',
      description:
        'The catalogue of the animals that a store offers: list them, add one, fetch one. 64-bit ' +
        'integers are exact.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Without a public URL the server is the base path, relative to the document.
    servers: [
      { url: publicUrl ?? basePath.slice(1), description: 'Production' },
      ...(stagingUrl === undefined ? [] : [{ url: stagingUrl, description: 'Staging' }]),
    ],
    tags: [TAG],
    security: [{ bearerAuth: [] }],
    paths: operations,
    components: {
      securitySchemes: {
        bearerAuth: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, as the bearer token.',
        },
      },
      schemas: Object.fromEntries(Object.entries(COMPONENTS).filter(isUsed)),
      headers: Object.fromEntries(headers),
    },
  };
  // TypeBox gives int64s the type "bigint", which JSON Schema does not know.
  return `${stringifyJson(document, 2).replaceAll('"type": "bigint"', '"type": "integer"')}\n`;
}

function paths(settings: HttpSettings): object {
  const items = [...servedPaths(settings)].map(([path, operations]) => {
    const methods = operations.map(([id, operation]) => [
      operation.method.toLowerCase(),
      operationObject(id, operation, settings),
    ]);
    return [path, Object.fromEntries(methods)];
  });
  return Object.fromEntries(items);
}

/** The Operation Object of an operation (OpenAPI 3.1.1, 4.8.10). */
function operationObject(id: string, operation: Operation, settings: HttpSettings): object {
  const { summary, description, scope, stability, deprecation, body, parameters } = operation;
  const paragraphs = [description];
  if (deprecation) {
    const since = day(settings.deprecatedSince);
    const removal = `will be removed on ${day(deprecation.sunset)}`;
    paragraphs.push(`**Deprecated** since ${since}, ${removal}. ${deprecation.advice}`);
  }
  paragraphs.push(`Needs the scope \`${scope}\`.`);
  return {
    operationId: id,
    tags: [TAG.name],
    summary,
    description: paragraphs.join('\n\n'),
    ...(deprecation && {
      deprecated: true,
      'x-deprecated-sunset': day(deprecation.sunset),
      'x-deprecated-reason': deprecation.advice,
    }),
    ...(stability && { 'x-stability': stability }),
    parameters: Object.entries(parameters).map(parameterObject),
    ...(body && {
      requestBody: {
        description: body.description,
        required: true,
        content: content(body.schema, body.types, { example: body.example }),
      },
    }),
    responses: responses(id, operation, settings),
  };
}

function parameterObject([name, { in: place, ...rest }]: [string, Parameter]): object {
  return { name, in: place, required: place === 'path', ...rest };
}

const day = (date: Date): string => date.toISOString().slice(0, 10);

/** The Responses Object of an operation (OpenAPI 3.1.1, 4.8.16). A removed operation has errors only. */
function responses(id: string, operation: Operation, settings: HttpSettings): object {
  const removed = isRemoved(id, settings);
  const isLimited = settings.rateLimit !== undefined && !removed;
  const headers: HeaderName[] = ['RequestId'];
  if (operation.deprecation) headers.push('Deprecation', 'Sunset', 'SuccessorLink');
  if (isLimited) headers.push('RateLimitPolicy', 'RateLimit');
  const own: readonly ErrorCode[] = removed ? ['operation_removed'] : operation.errors;
  const codes = [...own, ...OF_THE_MESSAGE, ...OF_EVERY];
  if (isLimited) codes.push('rate_limited');
  if (!removed) codes.push('insufficient_scope');
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  const errors = [...byStatus].map(([status, same]) => {
    // A status declares only the headers that all of its errors have.
    const isOfTheMessage = same.some((code) => OF_THE_MESSAGE.includes(code));
    const common: readonly HeaderName[] = isOfTheMessage ? ['RequestId'] : headers;
    return [status, errorResponse(same, operation, settings, common)];
  });
  // JavaScript lists numeric member names in ascending order.
  return {
    ...(!removed && successResponses(operation, headers)),
    ...Object.fromEntries(errors),
  };
}

function successResponses(
  { success, conditional }: Operation,
  common: readonly HeaderName[],
): object {
  const { status, description, schema } = success;
  const headers = references([...common, ...(success.headers ?? [])]);
  const unchanged = {
    description: 'Unchanged since the `ETag` in `If-None-Match`. No body.',
    headers,
  };
  return {
    [status]: { description, headers, ...(schema && { content: content(schema) }) },
    ...(conditional && { 304: unchanged }),
  };
}

/** The response with one of these codes, which have the same status. The first is its example. */
function errorResponse(
  codes: readonly ErrorCode[],
  operation: Operation,
  settings: HttpSettings,
  headers: readonly HeaderName[],
): object {
  const isPatch = operation.method === 'PATCH' && codes.includes('unsupported_media_type');
  const described = codes.map((code): ErrorDescription => ERRORS[code]);
  const meanings = described.map(
    ({ message, meaning = message }, index) => `\`${codes[index]}\`: ${meaning}`,
  );
  const [first] = codes;
  return {
    description: meanings.join('\n\n'),
    headers: references([
      ...headers,
      ...described.flatMap((error) => error.headers ?? []),
      ...(isPatch ? (['AcceptPatch'] as const) : []),
    ]),
    // An extension, not a schema: generators would make a type of each and lose the members of Error.
    'x-error-codes': codes,
    content: content(reference('Error'), undefined, {
      example: first && errorExample(first, operation, settings),
    }),
  };
}

const content = (
  schema: Keywords,
  types: readonly string[] = ['application/json'],
  rest = {},
): object => Object.fromEntries(types.map((type) => [type, { schema, ...rest }]));

const references = (names: readonly HeaderName[]): object =>
  Object.fromEntries(
    names.map((name) => [HEADERS[name].name, { $ref: `#/components/headers/${name}` }]),
  );
