import { Ajv2020 } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../src/adapters/http/open-api/open-api-document.js';
import type { HttpSettings } from '../../src/adapters/http/http-settings.js';
import { parseJson } from '../../src/exact-json.js';

/* The published document, as far as tests look at it, and what judges by it. */

export interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema & { readonly description: string }>>;
  readonly [keyword: string]: unknown;
}

interface Content {
  readonly 'application/json': {
    readonly schema: Schema;
    readonly example?: Readonly<Record<string, unknown>>;
  };
}

interface DocumentedResponse {
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Content;
  readonly 'x-error-codes'?: readonly string[];
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly parameters?: ReadonlyArray<{
    readonly name: string;
    readonly schema: Schema;
    readonly example?: bigint | string;
  }>;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

export interface OpenApiDocument {
  readonly servers: ReadonlyArray<{ readonly url: string; readonly description: string }>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<
      Record<string, { readonly required: boolean; readonly schema: Schema }>
    >;
  };
}

/** The document of a service with these settings, its integers as bigints. */
export const documentFor = (settings?: Partial<HttpSettings>): OpenApiDocument =>
  parseJson(openApiDocument(settings)) as OpenApiDocument;

/** Its operations by id. */
export const operationsOf = ({
  paths,
}: OpenApiDocument): Readonly<Record<string, DocumentedOperation>> =>
  Object.fromEntries(
    Object.values(paths).flatMap((item) =>
      Object.values(item).map((operation) => [operation.operationId, operation]),
    ),
  );

/** The operation that answers a request, if it is one of the document; `basePath` is what its paths are below. */
export function operationAt(
  { paths }: OpenApiDocument,
  basePath: string,
  method: string,
  path: string,
): DocumentedOperation | undefined {
  if (!path.startsWith(basePath)) return undefined;
  const below = path.slice(basePath.length);
  const template = Object.keys(paths).find((candidate) =>
    new RegExp(`^${candidate.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(below),
  );
  // The document does not speak of HEAD: it is a GET without a body.
  const member = method === 'HEAD' ? 'get' : method.toLowerCase();
  return template === undefined ? undefined : paths[template]?.[member];
}

/** Says what is wrong with a value by a schema; `undefined` when nothing is. Integers of the value are bigints. */
export type Judge = (value: unknown) => string | undefined;

/**
 * What judges values by schemas of the document: Ajv, another implementation than the one that the service judges
 * by. Ajv knows no bigints, and its numbers would round int64s, so integers are taught to it.
 */
export function judgeFor({ components }: OpenApiDocument): (schema: Schema) => Judge {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false, // a schema that only adds to a reference leaves the type to what it refers to
    allErrors: true,
    unicodeRegExp: true,
    formats: { int32: true, int64: true },
  });
  ajv.addKeyword({
    keyword: INTEGER,
    schemaType: 'object',
    compile:
      ({ minimum, maximum }: Bounds) =>
      (value: unknown) =>
        typeof value === 'bigint' &&
        (minimum === undefined || value >= minimum) &&
        (maximum === undefined || value <= maximum),
  });
  ajv.addSchema({ $id: COMPONENTS, $defs: forAjv(components.schemas) });
  return (schema) => {
    const validate = ajv.compile(forAjv(schema) as object);
    return (value) => (validate(value) ? undefined : ajv.errorsText(validate.errors));
  };
}

const COMPONENTS = 'components';
const INTEGER = 'x-exact-integer';

interface Bounds {
  readonly minimum?: bigint;
  readonly maximum?: bigint;
}

/** Keywords that judge nothing, and whose values are data, bigints and all. */
const ANNOTATIONS = new Set(['default', 'example', 'examples']);

/** A schema of the document as one for Ajv: integers by our keyword, references to where the components are. */
function forAjv(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forAjv);
  if (typeof schema === 'bigint') return Number(schema);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, minimum, maximum, ...rest } = schema as Record<string, unknown>;
  const exact = type === 'integer' ? { ...rest, [INTEGER]: { minimum, maximum } } : schema;
  return Object.fromEntries(
    Object.entries(exact).flatMap(([keyword, value]) => {
      if (ANNOTATIONS.has(keyword)) return [];
      if (keyword === INTEGER) return [[keyword, value]];
      if (keyword === '$ref')
        return [[keyword, String(value).replace('#/components/schemas/', `${COMPONENTS}#/$defs/`)]];
      return [[keyword, forAjv(value)]];
    }),
  );
}
