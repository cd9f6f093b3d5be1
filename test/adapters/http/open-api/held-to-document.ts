import { Ajv2020 } from 'ajv/dist/2020.js';
import assert from 'node:assert/strict';
import { openApiDocument } from '../../../../src/adapters/http/open-api/open-api-document.js';
import type { GivenHttpSettings } from '../../../../src/adapters/http/index.js';
import { parseJson } from '../../../../src/json.js';

/* The published document as far as tests look at it, and responses that are held to it. */

export interface Schema {
  readonly [keyword: string]: unknown;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly parameters: ReadonlyArray<Readonly<Record<string, unknown>>>;
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
        readonly content?: { readonly 'application/json': { readonly schema: Schema } };
      }
    >
  >;
}

export interface OpenApiDocument {
  readonly servers: ReadonlyArray<Readonly<Record<'url' | 'description', string>>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, { readonly required: boolean }>>;
  };
}

/** The document of a service with these settings, its integers as bigints. */
export const documentFor = (settings?: GivenHttpSettings): OpenApiDocument =>
  parseJson(openApiDocument(settings)) as OpenApiDocument;

export const operationsOf = ({ paths }: OpenApiDocument): readonly DocumentedOperation[] =>
  Object.values(paths).flatMap((item) => Object.values(item));

/** Returns what is wrong with a value by a schema of the document. Integers of the value are bigints. */
export function judgeFor({ components }: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: false, unicodeRegExp: true, validateFormats: false });
  // Ajv knows no bigints, and its numbers would round int64s.
  ajv.addKeyword({
    keyword: INTEGER,
    compile:
      ({ minimum, maximum }: Readonly<Record<'minimum' | 'maximum', bigint>>) =>
      (value: unknown) =>
        typeof value === 'bigint' && !(value < minimum) && !(value > maximum),
  });
  return (schema: Schema, value: unknown): string | undefined => {
    const all = { ...schema, components };
    const validate = ajv.compile(forAjv(all) as object);
    return validate(value) ? undefined : ajv.errorsText(validate.errors);
  };
}

const INTEGER = 'x-exact-integer';
const EXAMPLES = new Set(['example', 'examples']);

/** A schema of the document as one for Ajv: with integers by our keyword, without examples. */
function forAjv(schema: unknown): unknown {
  if (typeof schema === 'bigint') return Number(schema);
  if (Array.isArray(schema)) return schema.map(forAjv);
  if (Object(schema) !== schema) return schema;
  const { type, minimum, maximum } = schema as Schema;
  if (type === 'integer') return { [INTEGER]: { minimum, maximum } };
  const members = Object.entries(schema as Schema).filter(([name]) => !EXAMPLES.has(name));
  return Object.fromEntries(members.map(([keyword, value]) => [keyword, forAjv(value)]));
}

type Handler = (request: Request) => Promise<Response>;

/** The same handler. Each of its responses must be as the document of a service with these settings says. */
export function heldToDocument(handle: Handler, settings?: GivenHttpSettings): Handler {
  const document = documentFor(settings);
  const judge = judgeFor(document);
  const basePath = settings?.basePath ?? '/v1';
  const operationOf = ({ method, url }: Request): DocumentedOperation | undefined => {
    const { pathname } = new URL(url);
    if (!pathname.startsWith(`${basePath}/`)) return undefined;
    const path = pathname.slice(basePath.length).replace(/^\/pets\/[^/]+$/, '/pets/{petId}');
    // The document does not speak of HEAD: it is a GET without a body.
    const name = method === 'HEAD' ? 'get' : method.toLowerCase();
    return document.paths[path]?.[name];
  };
  return async (request) => {
    const response = await handle(request);
    const operation = operationOf(request);
    if (operation === undefined) return response;

    const declared = operation.responses[response.status];
    assert.ok(declared, `${operation.operationId} declares no ${response.status}`);
    for (const [name, { $ref }] of Object.entries(declared.headers)) {
      const header = document.components.headers[$ref.replace(/.*\//, '')];
      assert.ok(header, `${$ref} is declared`);
      if (header.required) assert.ok(response.headers.has(name), `${name} is missing`);
    }
    const body = await response.clone().text();
    const { schema } = declared.content?.['application/json'] ?? {};
    if (schema && body !== '') assert.equal(judge(schema, parseJson(body)), undefined);
    else assert.equal(body, '', 'the body');
    return response;
  };
}
