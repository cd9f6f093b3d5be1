import type { ErrorCode } from '../../../src/adapters/http/index.js';
import type { HttpKeys, Situation } from './wire-http.js';

/*
 * The HTTP contract as data: a row is a request and the response that it must get. Rows know nothing of the test
 * runner, the transport or the store. In their texts `{{base}}`, `{{key}}` and the like stand for what only the running
 * service knows (`Values`).
 */

/** One clause about one request. */
export interface Row {
  /** The clause. Unique in the contract. */
  readonly name: string;
  /** How the service is set up. Default: `plain`. */
  readonly given?: Situation;
  readonly request: RowRequest | RawRequest;
  readonly expect: Expectation;
  /** Why only a socket can send this, or show what comes back. */
  readonly socketOnly?: string | undefined;
}

/** A header field: its name as on the wire, and its value. */
export type Header = readonly [name: string, value: string];

/** A request that any HTTP client could send. Host and Content-Length are added. */
export interface RowRequest {
  /** Sent unchanged. */
  readonly method: string;
  /** The request target (RFC 9112, 3.2), including the base path. */
  readonly target: string;
  /** In the order in which they are sent. A header may be there twice. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  /** Text is sent as UTF-8. */
  readonly body?: string | Uint8Array;
  /** The body is sent in chunks, without its length. */
  readonly chunked?: true;
  /** The body is sent only after "100 Continue". */
  readonly awaitsContinue?: true;
}

/** Bytes to send unchanged; text is sent as Latin-1, one byte a character. */
export interface RawRequest {
  /** From the request line on, including line ends. */
  readonly raw: string;
}

/** The response that a request must get. */
export interface Expectation {
  readonly status: number;
  /** Of the error; every error has one. */
  readonly code?: ErrorCode;
  /** What the error's message contains. */
  readonly message?: RegExp;
  /** Headers that must have this value, match, or, with `null`, be absent. */
  readonly headers?: Readonly<Record<string, string | RegExp | null>>;
  /** The body to the byte, or what it contains; `{{id}}` stands for the new animal's. */
  readonly body?: string | RegExp;
  /** The server closes the connection after the response, and sends nothing more. Checked over a socket only. */
  readonly closes?: true;
  /** The response does not announce that the server closes the connection. Checked over a socket only. */
  readonly staysOpen?: true;
  /** The statuses of the interim responses, or `any`. Default: none. */
  readonly interim?: readonly number[] | 'any';
  /** How long the response may take, in milliseconds. */
  readonly within?: number;
  /** Further responses on the same connection, in this order. */
  readonly further?: readonly Expectation[];
}

/** The values for names in double braces in a row's texts. */
export interface Values extends HttpKeys {
  /** The path that operations are below. */
  readonly base: string;
  /** Host and port of the service. */
  readonly host: string;
  /** The id of the first animal of `SEED`. */
  readonly pet: string;
  /** The entity tag of the first animal, with its quotes and without; and that of the list of it alone. */
  readonly petTag: string;
  readonly petTagText: string;
  readonly listTag: string;
}

/** The animals that are in the store from the start, in this order, as JSON without their ids. */
export const SEED = [
  '"name":"Ada","categoryId":-9223372036854775808,"status":"available"',
  '"name":"Bo","categoryId":0,"status":"pending"',
  '"name":"Cy","categoryId":9007199254740993,"status":"sold"',
  '"name":"Di","categoryId":9223372036854775807,"status":"available"',
  '"name":"Ed","categoryId":4,"status":"sold"',
] as const;

/** A valid animal, for requests about something else. */
export const PET = '{"name":"Bella","categoryId":7}';

/** The status of each error. A new code does not compile until it has one. */
const STATUS_OF: Readonly<Record<ErrorCode, number>> = {
  invalid_pet: 400,
  invalid_parameter: 400,
  pet_not_found: 404,
  idempotency_conflict: 409,
  status_conflict: 409,
  precondition_failed: 412,
  idempotency_key_reused: 422,
  service_unavailable: 503,
  malformed_request: 400,
  malformed_json: 400,
  missing_body: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  insufficient_scope: 403,
  route_not_found: 404,
  method_not_allowed: 405,
  operation_removed: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  rate_limited: 429,
  headers_too_large: 431,
  request_timeout: 408,
  internal_error: 500,
};

/** The response to a request that is refused. */
export const error = (code: ErrorCode, more: Partial<Expectation> = {}): Expectation => ({
  status: STATUS_OF[code],
  code,
  ...more,
});

/** The response to a request that succeeds, and headers that it must have. */
export const ok = (headers: Expectation['headers'] = {}, status = 200): Expectation => ({
  status,
  headers,
});

export const row = (
  name: string,
  request: Row['request'],
  expect: Expectation,
  options: Pick<Row, 'given' | 'socketOnly'> = {},
): Row => ({ name, request, expect, ...options });

/** The response to a create of `PET`. */
export const CREATED: Expectation = {
  status: 201,
  body: '{"id":{{id}},"name":"Bella","categoryId":7,"status":"available"}',
};

export const bearer = (key = '{{key}}'): Header => ['Authorization', `Bearer ${key}`];
export const JSON_CONTENT: Header = ['Content-Type', 'application/json'];

/** A header value whose bytes are this text in UTF-8: headers are sent as Latin-1. */
export const asUtf8 = (text: string): string => Buffer.from(text).toString('latin1');

/** A request without a key; `target` is the whole path. */
export const bare = (method: string, target: string, ...headers: Header[]): RowRequest => ({
  method,
  target,
  headers,
});

/** A request with a valid key; `path` is below the base path. */
export const send = (method: string, path: string, ...headers: Header[]): RowRequest =>
  bare(method, `{{base}}${path}`, bearer(), ...headers);

export const get = (path: string, ...headers: Header[]): RowRequest =>
  send('GET', path, ...headers);

/** Adds an animal as JSON, with a valid key. */
export const post = (body: string | Uint8Array, ...headers: Header[]): RowRequest => ({
  ...send('POST', '/pets', JSON_CONTENT, ...headers),
  body,
});

/** The same request with another key, or with none. */
export const by = (key: string | undefined, request: RowRequest): RowRequest => ({
  ...request,
  headers: [
    ...(key === undefined ? [] : [bearer(key)]),
    ...request.headers.filter(([name]) => name !== 'Authorization'),
  ],
});

/** The same request with text as its body and another Content-Type. */
export const postAs = (contentType: string, body: string | Uint8Array = PET): RowRequest => ({
  ...send('POST', '/pets', ['Content-Type', contentType]),
  body,
});

/** Replaces what stands in double braces. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (braced, name: string) => values[name] ?? braced);

/** Replaces what stands in double braces in a request; in its body too, if that is text. */
export function fillRequest<R extends RawRequest | RowRequest>(
  request: R,
  values: Readonly<Record<string, string>>,
): R {
  if ('raw' in request) return { ...request, raw: fill(request.raw, values) };
  const { target, headers, body } = request;
  return {
    ...request,
    target: fill(target, values),
    headers: headers.map(([name, value]) => [name, fill(value, values)]),
    ...(typeof body === 'string' ? { body: fill(body, values) } : {}),
  };
}
