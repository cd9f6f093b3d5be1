import type { ErrorCode } from '../../../src/adapters/http/index.js';
import { KEYS, type ServiceSetup } from './service-parts.js';
import type { TestedService } from './tested-service.js';

/** A request and the response that it must get. */
export interface Row {
  readonly request: RowRequest;
  readonly expected: ExpectedResponse;
}

export interface RowRequest {
  readonly method: string;
  /** The request target, with base path and query. Sent as it is. */
  readonly path: string;
  /** In the order in which they are sent. A header may be there twice. */
  readonly headers: readonly Header[];
  /** Text is sent as UTF-8. */
  readonly body?: string | Uint8Array;
  /** Sends the body in chunks, without its length. */
  readonly chunked?: true;
}

export type Header = readonly [name: string, value: string];

export interface ExpectedResponse {
  readonly status: number;
  /** The error's code. Default: any. */
  readonly code?: ErrorCode;
  /** What the message of the error contains. */
  readonly message?: RegExp;
  /** Headers that have this value, match or, with `null`, are absent. */
  readonly headers?: Readonly<Record<string, string | RegExp | null>>;
  /** The whole body, or what it contains. */
  readonly body?: string | RegExp;
  /** Whether the client was told to send the body that it announced by `Expect: 100-continue`. */
  readonly continued?: boolean;
}

/** Rules about one subject, on services that are set up alike. */
export interface Topic extends ServiceSetup {
  readonly topic: string;
  /** Default: `interface`. */
  readonly layer?: Layer;
  /** By title: rows, or a case that sends several requests. Each has a service of its own. */
  readonly rules: Readonly<
    Record<string, readonly Row[] | ((service: TestedService) => Promise<void>)>
  >;
}

/**
 * What a rule tests. `interface`: what `HttpInterface` decides. `transport`: what a transport could damage. `socket`:
 * what only HTTP over a socket can show.
 */
export type Layer = 'interface' | 'transport' | 'socket';

/** A valid animal, for requests about something else. */
export const PET = '{"name":"Bella","categoryId":7}';

export const bearer = (key: string): Header => ['Authorization', `Bearer ${key}`];

export const USUAL_KEY = bearer(KEYS.all);
export const JSON_TYPE: Header = ['Content-Type', 'application/json'];

// Requests.

/** A request with these headers only. */
export const requestTo = (method: string, path: string, ...headers: Header[]): RowRequest => ({
  method,
  path,
  headers,
});

/** A request with a key of every scope; `path` is below the default base path. */
export const authorized = (method: string, path: string, ...headers: Header[]): RowRequest =>
  requestTo(method, `/v1${path}`, USUAL_KEY, ...headers);

export const get = (path: string, ...headers: Header[]): RowRequest =>
  authorized('GET', path, ...headers);

/** A create. */
export const post = (body: RowRequest['body'] & {}, ...headers: Header[]): RowRequest => ({
  ...authorized('POST', '/pets', JSON_TYPE, ...headers),
  body,
});

/** A create whose body has another media type, or none. */
export const postAs = (type?: string, body: string = PET): RowRequest => ({
  ...authorized('POST', '/pets', ...(type === undefined ? [] : [['Content-Type', type] as const])),
  body,
});

export const withHeaders = (request: RowRequest, ...headers: readonly Header[]): RowRequest => ({
  ...request,
  headers: [...request.headers, ...headers],
});

/** The same request with another key, or with none. */
export const withKey = (key: string | undefined, request: RowRequest): RowRequest => ({
  ...request,
  headers: [
    ...(key === undefined ? [] : [bearer(key)]),
    ...request.headers.filter(([name]) => name !== 'Authorization'),
  ],
});

export const hasHeader = ({ headers }: RowRequest, wanted: string): boolean =>
  headers.some(([name]) => name === wanted);

// Responses.

export const ok = (
  body?: string | RegExp,
  headers: ExpectedResponse['headers'] = {},
): ExpectedResponse => ({ status: 200, headers, ...(body !== undefined && { body }) });

export const error = (
  status: number,
  code: ErrorCode,
  more: Partial<ExpectedResponse> = {},
): ExpectedResponse => ({ status, code, ...more });

/** The response to the first create, with these values as JSON. */
export const created = (
  name = '"Bella"',
  categoryId = '7',
  status = '"available"',
): ExpectedResponse => ({
  status: 201,
  headers: { Location: '/v1/pets/6' },
  body: `{"id":6,"name":${name},"categoryId":${categoryId},"status":${status}}`,
});

// Rows.

export const row = (request: RowRequest, expected: ExpectedResponse): Row => ({
  request,
  expected,
});

/** Rows whose requests get the same response. */
export const rows = (expected: ExpectedResponse, ...requests: readonly RowRequest[]): Row[] =>
  requests.map((request) => row(request, expected));
