import assert from 'node:assert/strict';
import { JsonSyntaxError, parseJson } from '../../src/exact-json.js';
import { headerValues, type RawResponse } from '../contract/http/conversation.js';
import type { OpenHttp } from '../contract/http/http-subjects.js';
import type { RawRequest, RowRequest } from '../contract/http/request-row.js';
import {
  judgeFor,
  operationAt,
  type Judge,
  type OpenApiDocument,
  type Schema,
} from './document.js';

/** The method and the path of a request, as far as they are known. */
interface Asked {
  readonly method: string;
  readonly path: string;
}

/** Starts the same services, and checks and counts every response that the document they publish describes. */
export const heldToDocument =
  (start: OpenHttp, tally: { held: number }): OpenHttp =>
  async (situation) => {
    const subject = await start(situation);
    const published = await subject.send({ method: 'GET', target: '/openapi.json', headers: [] });
    assert.equal(published.responses[0]?.status, 200);
    const document = parseJson(published.responses[0].body.toString()) as OpenApiDocument;
    const faultsOf = answerCheck(document, new URL(subject.url).pathname);
    return {
      ...subject,
      async send(request, wanted) {
        const conversation = await subject.send(request, wanted);
        for (const [index, answer] of conversation.responses.entries()) {
          const asked = requestsOf(request)[index];
          const faults = asked && faultsOf(answer, asked);
          if (faults) tally.held += 1;
          assert.deepEqual(faults ?? [], [], 'the answer is not as the OpenAPI document says');
        }
        return conversation;
      },
    };
  };

/** The requests that were sent; of bytes, those with a readable first line. */
export function requestsOf(request: RowRequest | RawRequest): Asked[] {
  if ('method' in request) return [{ method: request.method, path: pathOf(request.target) }];
  const lines = request.raw.matchAll(/^([A-Z]+) (\S+) HTTP\/1\.[01]\r$/gm);
  return [...lines].map(([, method = '', target = '']) => ({ method, path: pathOf(target) }));
}

const pathOf = (target: string): string => target.split('?', 1)[0] ?? '';

/**
 * Checks statuses, headers and bodies of responses against a document, with Ajv. A HEAD is a GET without a body. The
 * check returns what differs; `undefined` if the document does not describe the request.
 */
function answerCheck(document: OpenApiDocument, basePath: string) {
  const compile = judgeFor(document);
  const judges = new Map<unknown, Judge>();
  const faultOf = (schema: Schema, value: unknown): string | undefined => {
    const judge = judges.get(schema) ?? compile(schema);
    judges.set(schema, judge);
    return judge(value);
  };
  const headerFault = (component: string, values: readonly string[]): string | undefined => {
    const { required = false, schema = {} } = document.components.headers[component] ?? {};
    const [value, second] = values;
    if (value === undefined) return required ? 'is missing' : undefined;
    if (second !== undefined) return 'is there twice';
    return faultOf(
      schema,
      schema['type'] === 'integer' && /^-?\d+$/.test(value) ? BigInt(value) : value,
    );
  };
  return (answer: RawResponse, { method, path }: Asked): string[] | undefined => {
    const operation = operationAt(document, basePath, method, path);
    if (operation === undefined) return undefined;
    const { operationId, responses } = operation;
    const response = responses[answer.status];
    if (response === undefined) return [`${operationId} declares no ${answer.status}`];
    const faults = Object.entries(response.headers).map(([name, { $ref }]) => {
      const fault = headerFault(
        $ref.replace('#/components/headers/', ''),
        headerValues(answer, name),
      );
      return fault && `${name}: ${fault}`;
    });
    const content = response.content?.['application/json'];
    if (content === undefined) faults.push(answer.body.length > 0 ? 'there is a body' : undefined);
    else {
      const [type = ''] = headerValues(answer, 'Content-Type').join().split(';');
      faults.push(type === 'application/json' ? undefined : `Content-Type: ${type}`);
      if (method !== 'HEAD') {
        faults.push(
          bodyFault(answer, (body) => faultOf(content.schema, body), response['x-error-codes']),
        );
      }
    }
    return faults.flatMap((fault) => (fault ? [`${operationId} ${answer.status}, ${fault}`] : []));
  };
}

/** What is wrong with a body. The codes of an Error are in an extension of the document, not in a schema. */
function bodyFault(
  { status, body }: RawResponse,
  judge: Judge,
  codes?: readonly string[],
): string | undefined {
  try {
    const value = parseJson(body.toString());
    const error = value as { readonly code: string; readonly status: bigint };
    if (codes?.includes(error.code) === false)
      return `code is ${error.code}, and may be ${codes.join(', ')}`;
    if (codes && error.status !== BigInt(status)) return `status is ${error.status}`;
    return judge(value);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message;
    throw error;
  }
}
