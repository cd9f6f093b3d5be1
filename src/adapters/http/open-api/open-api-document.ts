import { Type } from 'typebox';
import { stringify } from '../../../exact-json.js';
import { ERROR_STATUS, type ErrorCode } from '../error-responses.js';
import { ERROR_DESCRIPTIONS } from './error-descriptions.js';
import { DEPRECATION_HEADERS, HEADERS, type HeaderName } from './headers.js';
import { baseUrl, completeSettings, type HttpSettings } from '../http-settings.js';
import { componentName, componentSchema, jsonSchema, type Keywords } from './json-schema.js';
import {
  OPERATIONS,
  deprecationHeaders,
  isRemoved,
  type Deprecation,
  type Operation,
  type Parameter,
} from '../operations.js';
import { COMPONENTS, ErrorSchema } from '../schemas.js';

type Operations = Readonly<Record<string, Operation>>;

const OPEN_API_VERSION = '3.1.1';
const INTERFACE_VERSION = '1.0.0';
const TAG = { name: 'animals', description: 'The animals of the store.' };

/** Errors of the listening server itself, before the operation is known. */
const OF_THE_MESSAGE: readonly ErrorCode[] = [
  'malformed_request',
  'request_timeout',
  'expectation_failed',
  'headers_too_large',
];

/** Errors of every operation. */
const OF_EVERY_OPERATION: readonly ErrorCode[] = [
  ...OF_THE_MESSAGE,
  'missing_api_key',
  'invalid_api_key',
  'internal_error',
  'service_unavailable',
];

/** The parameter of every conditional operation. */
export const IF_NONE_MATCH: Operation['parameters'] = {
  'If-None-Match': {
    in: 'header',
    schema: Type.String(),
    description:
      'The `ETag` of an earlier response. While the response would be the same, it is a 304 without a body.',
  },
};

/**
 * The OpenAPI 3.1 document of a service with these settings, as JSON text with exact integers. It declares every status
 * that the service can respond with, and no other. The same settings give the same bytes.
 */
export const openApiDocument = (settings: Partial<HttpSettings> = {}): string =>
  documentText(completeSettings(settings), OPERATIONS);

/** The document of other operations, by id. */
export function documentText(settings: HttpSettings, operations: Operations): string {
  const document = {
    openapi: OPEN_API_VERSION,
    info: {
      title: 'Animal Store',
      version: INTERFACE_VERSION,
      // Generators put it at the head of every file.
      description:
        'The catalogue of the animals that a store offers: list them, add one, fetch one. 64-bit integers are exact.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: servers(settings),
    tags: [TAG],
    security: [{ bearerAuth: [] }],
    paths: paths(operations, settings),
    components: {
      securitySchemes: {
        bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API key, as the bearer token.' },
      },
      schemas: Object.fromEntries(
        COMPONENTS.map((schema) => [componentName(schema), componentSchema(schema)]),
      ),
      headers: headerComponents(operations, settings),
    },
  };
  return `${stringify(document, 2)}\n`;
}

/** Without a public URL the server is the base path, relative to the document. */
const servers = (settings: HttpSettings): Keywords[] => [
  { url: baseUrl(settings), description: 'Production' },
  ...(settings.stagingUrl === undefined ? [] : [{ url: settings.stagingUrl, description: 'Staging' }]),
];

function paths(operations: Operations, settings: HttpSettings): Keywords {
  const byPath = Map.groupBy(Object.entries(operations), ([, { path }]) => path);
  const pathItem = (onPath: ReadonlyArray<[id: string, Operation]>): Keywords =>
    Object.fromEntries(
      onPath.map(([id, operation]) => [
        operation.method.toLowerCase(),
        operationObject(id, operation, settings),
      ]),
    );
  return Object.fromEntries([...byPath].map(([path, onPath]) => [path, pathItem(onPath)]));
}

function operationObject(id: string, operation: Operation, settings: HttpSettings): Keywords {
  const { summary, stability, deprecation, body, conditional } = operation;
  const parameters = { ...operation.parameters, ...(conditional && IF_NONE_MATCH) };
  const declared = Object.entries(parameters).map(([name, parameter]) => parameterObject(name, parameter));
  return {
    operationId: id,
    tags: [TAG.name],
    summary,
    description: operationDescription(operation, settings),
    ...(deprecation && {
      deprecated: true,
      'x-deprecated-sunset': day(deprecation.sunset),
      'x-deprecated-reason': deprecation.advice,
    }),
    ...(stability && { 'x-stability': stability }),
    ...(declared.length > 0 && { parameters: declared }),
    ...(body && {
      requestBody: { description: body.description, required: true, content: json(jsonSchema(body.schema)) },
    }),
    responses: responses(id, operation, settings),
  };
}

const parameterObject = (
  name: string,
  { in: location, description, schema, example }: Parameter,
): Keywords => ({
  name,
  in: location,
  description,
  required: location === 'path',
  schema: jsonSchema(schema),
  ...(example !== undefined && { example }),
});

function operationDescription(operation: Operation, { deprecatedSince }: HttpSettings): string {
  const { description, deprecation, scope } = operation;
  const deprecated = ({ sunset, advice }: Deprecation): string =>
    `**Deprecated** since ${day(deprecatedSince)}, will be removed on ${day(sunset)}. ${advice}`;
  const paragraphs = [
    description,
    ...(deprecation ? [deprecated(deprecation)] : []),
    `Needs the scope \`${scope}\`.`,
  ];
  return paragraphs.join('\n\n');
}

const day = (date: Date): string => date.toISOString().slice(0, 10);

function responses(id: string, operation: Operation, settings: HttpSettings): Keywords {
  const removed = isRemoved(id, settings);
  const codes: readonly ErrorCode[] = [
    ...(removed ? (['operation_removed'] as const) : operation.errors),
    ...OF_EVERY_OPERATION,
    ...(removed ? [] : (['insufficient_scope'] as const)),
  ];
  const byStatus = Map.groupBy(codes, (code) => ERROR_STATUS[code]);
  const answers = new Map(
    [...byStatus].map(([status, of]) => [status, errorResponse(status, of, operation, settings)]),
  );
  // Numeric member names are in ascending order.
  return {
    ...(!removed && { [operation.success.status]: successResponse(operation) }),
    ...(!removed && operation.conditional && { 304: notModifiedResponse(operation) }),
    ...Object.fromEntries(answers),
  };
}

const successResponse = (operation: Operation): Keywords => ({
  description: operation.success.description,
  headers: successHeaders(operation),
  content: json(jsonSchema(operation.success.schema)),
});

const notModifiedResponse = (operation: Operation): Keywords => ({
  description: 'The response is unchanged since the one with the `ETag` in `If-None-Match`. It has no body.',
  headers: successHeaders(operation),
});

const successHeaders = ({ success, conditional, deprecation }: Operation): Keywords =>
  headers([...(conditional ? (['EntityTag'] as const) : []), ...(success.headers ?? [])], deprecation);

function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  operation: Operation,
  settings: HttpSettings,
): Keywords {
  const described = codes.map((code) => ({ code, ...ERROR_DESCRIPTIONS[code] }));
  const examples = described.map(({ code, message, meaning }) => {
    const text = typeof message === 'string' ? message : message(operation, settings);
    return [code, { summary: meaning, value: { code, message: text, status } }];
  });
  // The server responds to these before it knows the route.
  const ofRoute = codes.every((code) => !OF_THE_MESSAGE.includes(code));
  return {
    description: described.map(({ code, meaning }) => `\`${code}\`: ${meaning}`).join('\n\n'),
    headers: headers(
      described.flatMap((error) => error.headers ?? []),
      ofRoute ? operation.deprecation : undefined,
    ),
    // An extension, not a schema: generators would make a type of each and lose the members of Error.
    'x-error-codes': codes,
    content: json(jsonSchema(ErrorSchema), { examples: Object.fromEntries(examples) }),
  };
}

const json = (schema: Keywords, rest: Keywords = {}): Keywords => ({
  'application/json': { schema, ...rest },
});

/** Headers of a response: those of every response, its own, and those of a deprecated operation. */
function headers(own: readonly HeaderName[], deprecation: Deprecation | undefined): Keywords {
  const names: readonly HeaderName[] = ['RequestId', ...own];
  const components = [
    ...names.map((name) => [HEADERS[name].name, name] as const),
    ...(deprecation
      ? Object.entries(DEPRECATION_HEADERS).map(([name, { component }]) => [name, component])
      : []),
  ];
  return Object.fromEntries(
    components.map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
  );
}

function headerComponents(operations: Operations, settings: HttpSettings): Keywords {
  const base = baseUrl(settings);
  const plain = Object.entries(HEADERS).map(([component, { description, required, schema, example }]) => [
    component,
    { description, required, schema, example: example(base) },
  ]);
  const [deprecation] = Object.values(operations).flatMap((operation) => operation.deprecation ?? []);
  const examples = deprecation && deprecationHeaders(deprecation, settings.deprecatedSince, base);
  const ofDeprecated = Object.entries(examples ?? {}).map(([name, example]) => {
    const { component, ...header } = DEPRECATION_HEADERS[name as keyof typeof DEPRECATION_HEADERS];
    return [component, { ...header, required: true, example }];
  });
  return Object.fromEntries([...plain, ...ofDeprecated]);
}
