import { Type } from 'typebox';
import { stringify } from '../../../exact-json.js';
import { ERROR_STATUS, type ErrorCode } from '../answer/error-answers.js';
import { ERROR_DESCRIPTIONS } from './error-descriptions.js';
import { DEPRECATION_HEADERS, HEADERS, type HeaderName } from './headers.js';
import { DEFAULT_HTTP_SETTINGS, baseUrl, type HttpSettings } from '../http-settings.js';
import { componentName, componentSchema, jsonSchema, type Keywords } from './json-schema.js';
import { guide } from './open-api-guide.js';
import {
  OPERATIONS,
  deprecationHeaders,
  isRemoved,
  type Deprecation,
  type Operation,
} from '../operations.js';
import { COMPONENTS, ErrorSchema } from '../schemas.js';

type Operations = Readonly<Record<string, Operation>>;

const OPEN_API_VERSION = '3.1.1';
const INTERFACE_VERSION = '1.0.0';
const TAG = { name: 'animals', description: 'The animals of the store.' };

/** What the listening server answers by itself, before it is known which operation was meant. */
const OF_THE_MESSAGE: readonly ErrorCode[] = [
  'malformed_request',
  'request_timeout',
  'expectation_failed',
  'headers_too_large',
];

/** What every operation may answer, whatever it does. */
const OF_EVERY_OPERATION: readonly ErrorCode[] = [
  ...OF_THE_MESSAGE,
  'missing_api_key',
  'invalid_api_key',
  'internal_error',
  'service_unavailable',
];

/** What every conditional operation takes. What is no list of entity tags matches nothing. */
export const IF_NONE_MATCH: Operation['parameters'] = {
  'If-None-Match': {
    in: 'header',
    schema: Type.String(),
    description:
      'The `ETag` of an answer that the client has: 304 while it would be the same (RFC 9110, 13.1.2).',
  },
};

/**
 * The OpenAPI 3.1 document of the interface, as a service with these settings offers it: every status that it
 * can answer with, and no other. JSON text, its integers to the digit; the same settings give the same bytes.
 */
export const openApiDocument = (settings: Partial<HttpSettings> = {}): string =>
  documentText({ ...DEFAULT_HTTP_SETTINGS, ...settings }, OPERATIONS);

/** The same of other operations, by their ids. */
export function documentText(settings: HttpSettings, operations: Operations): string {
  const document = {
    openapi: OPEN_API_VERSION,
    info: {
      title: 'Animal Store',
      version: INTERFACE_VERSION,
      description: guide(settings),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: servers(settings),
    tags: [TAG],
    security: [{ bearerAuth: [] }],
    paths: paths(operations, settings),
    components: {
      securitySchemes: {
        bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API key, sent as the bearer token.' },
      },
      schemas: Object.fromEntries(
        COMPONENTS.map((schema) => [componentName(schema), componentSchema(schema)]),
      ),
      headers: headerComponents(operations, settings),
    },
  };
  return `${stringify(document, 2)}\n`;
}

/** Without a public address it is the base path, which is relative to where the document is. */
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
  const declared = Object.entries(parameters).map(([name, parameter]) => ({
    name,
    in: parameter.in,
    description: parameter.description,
    required: parameter.in === 'path',
    schema: jsonSchema(parameter.schema),
  }));
  return {
    operationId: id,
    tags: [TAG.name],
    summary,
    description: operationDescription(operation, settings),
    ...(deprecation && { deprecated: true, 'x-deprecated-sunset': day(deprecation.sunset) }),
    ...(stability && { 'x-stability': stability }),
    ...(declared.length > 0 && { parameters: declared }),
    ...(body && {
      requestBody: { description: body.description, required: true, content: json(jsonSchema(body.schema)) },
    }),
    responses: responses(id, operation, settings),
  };
}

function operationDescription(operation: Operation, { deprecatedSince }: HttpSettings): string {
  const { description, deprecation, scope } = operation;
  const deprecated = ({ sunset, advice }: Deprecation): string =>
    `**Deprecated** since ${day(deprecatedSince)}, to be removed on ${day(sunset)}. ${advice}`;
  const paragraphs = [
    description,
    ...(deprecation ? [deprecated(deprecation)] : []),
    `The API key needs the scope \`${scope}\`.`,
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
  // Numbers as names of members stand in ascending order.
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
  description: 'Nothing has changed since the answer whose `ETag` was sent in `If-None-Match`.',
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
  // What belongs to a route is not on an answer that was given before the route was looked for.
  const ofRoute = codes.every((code) => !OF_THE_MESSAGE.includes(code));
  return {
    description: described.map(({ code, meaning }) => `\`${code}\`: ${meaning}`).join('\n\n'),
    headers: headers(
      described.flatMap((error) => error.headers ?? []),
      ofRoute ? operation.deprecation : undefined,
    ),
    // Not in a schema of its own: generators of clients would make a type of each, and lose the members of Error.
    'x-error-codes': codes,
    content: json(jsonSchema(ErrorSchema), { examples: Object.fromEntries(examples) }),
  };
}

const json = (schema: Keywords, rest: Keywords = {}): Keywords => ({
  'application/json': { schema, ...rest },
});

/** An answer's headers: those of every answer, its own, and those of a deprecated operation. */
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
