import { JsonSyntaxError, parse } from '../../src/exact-json.js';
import { headerValues, type RawResponse } from '../contract/http/conversation.js';
import { judgeFor, operationAt, type OpenApiDocument, type Schema } from './document.js';
import type { Judge } from './exact-validator.js';

/** What was asked: the method and the whole path, as far as they can be told. */
export interface Asked {
  readonly method: string;
  readonly path: string;
}

/** Holds answers to a document: its statuses, headers and bodies, judged by Ajv. */
export class AnswerCheck {
  readonly #document: OpenApiDocument;
  readonly #basePath: string;
  readonly #judges = new Map<unknown, Judge>();
  readonly #judgeFor: (schema: Schema) => Judge;

  /** @param basePath the path that the document's paths are below */
  constructor(document: OpenApiDocument, basePath: string) {
    this.#document = document;
    this.#basePath = basePath;
    this.#judgeFor = judgeFor(document);
  }

  /**
   * What in the answer is not as the document says; `undefined` where the document says nothing of the request.
   * A HEAD is held to what the document says of GET, but for the body.
   */
  faultsOf(answer: RawResponse, { method, path }: Asked): readonly string[] | undefined {
    const operation = operationAt(this.#document, this.#basePath, method, path);
    if (operation === undefined) return undefined;
    const { status } = answer;
    const { operationId, responses } = operation;
    const response = responses[status];
    if (response === undefined) return [`${operationId} declares no ${status}`];
    const faults: string[] = [];
    const note = (what: string, fault: string | undefined): void => {
      if (fault !== undefined) faults.push(`${operationId} ${status}, ${what}: ${fault}`);
    };
    for (const [name, { $ref }] of Object.entries(response.headers)) {
      const values = headerValues(answer, name);
      note(name, this.#headerFault($ref.replace('#/components/headers/', ''), values));
    }
    const content = response.content?.['application/json'];
    if (content === undefined) note('body', answer.body.length > 0 ? 'there is one' : undefined);
    else {
      const [type = ''] = headerValues(answer, 'Content-Type').join().split(';');
      note('Content-Type', type === 'application/json' ? undefined : type);
      if (method !== 'HEAD') note('body', this.#bodyFault(content.schema, answer.body));
      const codes = response['x-error-codes'];
      if (method !== 'HEAD' && codes) note('body', errorFault(answer, codes));
    }
    return faults;
  }

  #headerFault(component: string, values: readonly string[]): string | undefined {
    const { required = false, schema = {} } = this.#document.components.headers[component] ?? {};
    const [value, second] = values;
    if (value === undefined) return required ? 'is missing' : undefined;
    if (second !== undefined) return 'is there twice';
    const isInteger = schema['type'] === 'integer' && /^-?\d+$/.test(value);
    return this.#judge(schema)(isInteger ? BigInt(value) : value);
  }

  #bodyFault(schema: Schema, body: Buffer): string | undefined {
    try {
      return this.#judge(schema)(parse(body.toString()));
    } catch (error) {
      if (error instanceof JsonSyntaxError) return error.message;
      throw error;
    }
  }

  #judge(schema: Schema): Judge {
    const judge = this.#judges.get(schema) ?? this.#judgeFor(schema);
    this.#judges.set(schema, judge);
    return judge;
  }
}

/** What the document says of the members of Error without a schema. */
function errorFault({ status, body }: RawResponse, codes: readonly string[]): string | undefined {
  const error = JSON.parse(body.toString()) as { code: string; status: number };
  if (!codes.includes(error.code)) return `code is ${error.code}, and may be ${codes.join(', ')}`;
  return error.status === status ? undefined : `status is ${error.status}`;
}
