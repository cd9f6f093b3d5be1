import assert from 'node:assert/strict';
import type { HttpSettings } from '../../src/adapters/http/index.js';
import { parseJson } from '../../src/exact-json.js';
import {
  documentFor,
  judgeFor,
  operationAt,
  type Judge,
  type OpenApiDocument,
  type Schema,
} from './document.js';

/** A response, with its body as text. */
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

type Handler = (request: Request) => Promise<Response>;

const checks = new Map<string, ReturnType<typeof answerCheck>>();

/** The same handler. Each of its responses must be as the document of a service with these settings says. */
export function heldToDocument(handle: Handler, settings: Partial<HttpSettings> = {}): Handler {
  const key = JSON.stringify(settings);
  const faultsOf =
    checks.get(key) ?? answerCheck(documentFor(settings), settings.basePath ?? '/v1');
  checks.set(key, faultsOf);
  return async (request) => {
    const response = await handle(request);
    const body = await response.clone().text();
    const { status, headers } = response;
    const { pathname } = new URL(request.url);
    const faults = faultsOf({ status, headers, body }, request.method, pathname);
    assert.deepEqual(faults, [], 'the response is not as the OpenAPI document says');
    return response;
  };
}

/**
 * Checks statuses, headers and bodies of responses against a document, with Ajv. A HEAD is a GET without a body. The
 * check returns what differs: nothing if the document does not describe the request.
 */
function answerCheck(document: OpenApiDocument, basePath: string) {
  const compile = judgeFor(document);
  const judges = new Map<unknown, Judge>();
  const faultOf = (schema: Schema, value: unknown): string | undefined => {
    const judge = judges.get(schema) ?? compile(schema);
    judges.set(schema, judge);
    return judge(value);
  };
  const headerFault = (component: string, value: string | null): string | undefined => {
    const { required = false, schema = {} } = document.components.headers[component] ?? {};
    if (value === null) return required ? 'is missing' : undefined;
    const isInteger = schema['type'] === 'integer' && /^-?\d+$/.test(value);
    return faultOf(schema, isInteger ? BigInt(value) : value);
  };
  return ({ status, headers, body }: Answer, method: string, path: string): string[] => {
    const operation = operationAt(document, basePath, method, path);
    if (operation === undefined) return [];
    const { operationId, responses } = operation;
    const response = responses[status];
    if (response === undefined) return [`${operationId} declares no ${status}`];
    const faults = Object.entries(response.headers).map(([name, { $ref }]) => {
      const fault = headerFault($ref.replace('#/components/headers/', ''), headers.get(name));
      return fault && `${name}: ${fault}`;
    });
    const { schema } = response.content?.['application/json'] ?? {};
    if (schema && body !== '') {
      const value = parseJson(body);
      const codes = response['x-error-codes'];
      const { code } = value as { readonly code?: string };
      if (codes && !codes.includes(String(code))) faults.push(`the code ${code} is not declared`);
      faults.push(faultOf(schema, value));
    }
    if (!schema && body !== '') faults.push('there is a body');
    return faults.flatMap((fault) => (fault ? [`${operationId} ${status}, ${fault}`] : []));
  };
}
