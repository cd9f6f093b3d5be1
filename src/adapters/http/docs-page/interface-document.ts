import {
  asList,
  asObject,
  asText,
  plainText,
  writeJson,
  type JsonObject,
  type JsonValue,
} from './json-text.js';
import { Schemas, type Schema } from './schema-text.js';

/** What the page shows of an OpenAPI 3.1 document. Descriptions are Markdown; what is left out is empty. */
export interface InterfaceDocument {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly servers: readonly Server[];
  /** How a caller says who it is, in words. */
  readonly security: readonly string[];
  readonly groups: readonly Group[];
  readonly errors: readonly ErrorCode[];
  readonly schemas: Schemas;
}

export interface Server {
  /** As in the document: may be relative to where that is. */
  readonly url: string;
  readonly description: string;
}

/** The operations of a tag. */
export interface Group {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecation: Deprecation | undefined;
  /** The mark of an operation that may still change. */
  readonly stability: string;
  readonly parameters: readonly Parameter[];
  readonly body: Body | undefined;
  readonly answers: readonly Answer[];
}

export interface Deprecation {
  readonly since: Date | undefined;
  readonly sunset: Date | undefined;
}

export interface Parameter {
  readonly name: string;
  readonly place: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example: string;
}

/** What is sent or answered. */
export interface Body {
  readonly mediaType: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly examples: readonly Example[];
}

interface Example {
  readonly name: string;
  readonly summary: string;
  /** As JSON text. */
  readonly text: string;
}

export interface Answer {
  readonly status: string;
  readonly description: string;
  readonly headers: readonly Header[];
  readonly body: Body | undefined;
  /** Of errors. */
  readonly codes: readonly Code[];
}

interface Header {
  readonly name: string;
  readonly description: string;
  readonly example: string;
}

interface Code {
  readonly code: string;
  readonly meaning: string;
}

export interface ErrorCode extends Code {
  readonly status: string;
  /** The ids of the operations that may answer it. */
  readonly operations: readonly string[];
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

export function readInterface(document: JsonValue): InterfaceDocument {
  const root = asObject(document);
  const schemas = new Schemas(root);
  const info = asObject(root['info']);
  const operations = Object.entries(asObject(root['paths'])).flatMap(([path, value]) => {
    const item = asObject(value);
    return METHODS.filter((method) => method in item).map((method) => {
      const declared = asObject(item[method]);
      const parameters = [...asList(item['parameters']), ...asList(declared['parameters'])];
      return {
        tags: asList(declared['tags']),
        operation: readOperation(path, method, declared, parameters, schemas),
      };
    });
  });
  return {
    title: asText(info['title']),
    version: asText(info['version']),
    description: asText(info['description']),
    servers: asList(root['servers'])
      .map(asObject)
      .map(({ url, description }) => ({ url: asText(url), description: asText(description) })),
    security: Object.values(asObject(asObject(root['components'])['securitySchemes'])).map((scheme) =>
      asText(asObject(scheme)['description']),
    ),
    groups: asList(root['tags'])
      .map(asObject)
      .map(({ name = null, description }) => ({
        name: asText(name),
        description: asText(description),
        operations: operations.filter(({ tags }) => tags.includes(name)).map(({ operation }) => operation),
      })),
    errors: readErrors(operations.map(({ operation }) => operation)),
    schemas,
  };
}

function readOperation(
  path: string,
  method: string,
  declared: JsonObject,
  parameters: readonly JsonValue[],
  schemas: Schemas,
): Operation {
  const answers = Object.entries(asObject(declared['responses'])).map(([status, response]) =>
    readAnswer(status, schemas.resolve(response), schemas),
  );
  const sunset = asText(declared['x-deprecated-sunset']);
  return {
    id: asText(declared['operationId']),
    method: method.toUpperCase(),
    path,
    summary: asText(declared['summary']),
    description: asText(declared['description']),
    deprecation:
      declared['deprecated'] === true
        ? { since: deprecatedSince(answers), sunset: sunset === '' ? undefined : new Date(sunset) }
        : undefined,
    stability: asText(declared['x-stability']),
    parameters: parameters.map((parameter) => readParameter(schemas.resolve(parameter), schemas)),
    body: readBody(schemas.resolve(declared['requestBody']), schemas),
    answers,
  };
}

function readParameter(declared: JsonObject, schemas: Schemas): Parameter {
  const { name, in: place, required, description, schema, example } = declared;
  const [shown = example] = schemas.examples(asObject(schema));
  return {
    name: asText(name),
    place: asText(place),
    required: required === true,
    description: asText(description),
    schema: asObject(schema),
    example: shown === undefined ? '' : plainText(shown),
  };
}

function readBody(declared: JsonObject, schemas: Schemas): Body | undefined {
  const [mediaType, value] = Object.entries(asObject(declared['content']))[0] ?? [];
  if (mediaType === undefined) return undefined;
  const { schema, example, examples } = asObject(value);
  const named = Object.entries(asObject(examples)).map(([name, item]) => {
    const { summary, value: shown = null } = schemas.resolve(item);
    return { name, summary: asText(summary), text: writeJson(shown) };
  });
  const unnamed = example === undefined ? schemas.examples(asObject(schema)) : [example];
  return {
    mediaType,
    required: declared['required'] === true,
    description: asText(declared['description']),
    schema: asObject(schema),
    examples:
      named.length > 0 ? named : unnamed.map((shown) => ({ name: '', summary: '', text: writeJson(shown) })),
  };
}

function readAnswer(status: string, response: JsonObject, schemas: Schemas): Answer {
  const body = readBody(response, schemas);
  const codes = asList(response['x-error-codes']).map(plainText);
  return {
    status,
    description: asText(response['description']),
    headers: Object.entries(asObject(response['headers'])).map(([name, header]) => {
      const { description, schema, example } = schemas.resolve(header);
      const shown = example ?? schemas.examples(asObject(schema))[0];
      return { name, description: asText(description), example: shown === undefined ? '' : plainText(shown) };
    }),
    body,
    codes: codes.map((code) => ({
      code,
      meaning: body?.examples.find(({ name }) => name === code)?.summary ?? '',
    })),
  };
}

/** Every code with the operations that answer it, by its status. */
function readErrors(operations: readonly Operation[]): readonly ErrorCode[] {
  const errors = new Map<string, ErrorCode>();
  for (const { id, answers } of operations) {
    for (const { status, codes } of answers) {
      for (const { code, meaning } of codes) {
        const known = errors.get(code)?.operations ?? [];
        errors.set(code, { code, status, meaning, operations: [...known, id] });
      }
    }
  }
  return [...errors.values()].sort((a, b) => Number(a.status) - Number(b.status));
}

/** When the operation became deprecated, by the Deprecation header of its answers (RFC 9745). */
function deprecatedSince(answers: readonly Answer[]): Date | undefined {
  const values = answers
    .flatMap(({ headers }) => headers)
    .filter(({ name }) => name.toLowerCase() === 'deprecation')
    .map(({ example }) => /^@(-?\d+)$/.exec(example)?.[1]);
  const seconds = values.find((value) => value !== undefined);
  return seconds === undefined ? undefined : new Date(Number(seconds) * 1000);
}
