import { openApiDocument } from '../../src/adapters/http/open-api/open-api-document.js';
import type { HttpSettings } from '../../src/adapters/http/http-settings.js';
import { parse } from '../../src/exact-json.js';
import { exactValidator, type Judge } from './exact-validator.js';

/* The published document, as far as tests look at it. */

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
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly schema: Schema }>;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

export interface OpenApiDocument {
  readonly servers: ReadonlyArray<{ readonly url: string; readonly description: string }>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, { readonly required: boolean; readonly schema: Schema }>>;
  };
}

/** The document of a service with these settings, its integers as bigints. */
export const documentFor = (settings?: Partial<HttpSettings>): OpenApiDocument =>
  parse(openApiDocument(settings)) as OpenApiDocument;

/** Its operations by id. */
export const operationsOf = ({ paths }: OpenApiDocument): Readonly<Record<string, DocumentedOperation>> =>
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

/** What judges values by schemas of the document. */
export const judgeFor = ({ components }: OpenApiDocument): ((schema: Schema) => Judge) =>
  exactValidator(components.schemas);
