import type { ErrorCode } from '../../../src/adapters/http/answer/error-answers.js';
import type { Situation } from './situation.js';

/*
 * The HTTP contract as data: a row is a request and what must come back, told by a promise in plain words.
 * Rows know nothing of the test runner, the transport or the store. In their texts `{{base}}`, `{{key}}` and
 * the like stand for what only the running service knows (`Values`).
 */

/** One promise about one request. */
export interface Row {
  /** The promise. No two rows have the same. */
  readonly name: string;
  /** How the service is set up; `plain` when left out. */
  readonly given?: Situation;
  readonly request: RowRequest | RawRequest;
  readonly expect: Expectation;
  /** Why only a socket can send this, or tell what comes back. */
  readonly socketOnly?: string | undefined;
}

/** A header field: its name as it is spelled on the wire, and its value. */
export type Header = readonly [name: string, value: string];

/** A request that any HTTP client could send. The Host header and the length go without saying. */
export interface RowRequest {
  /** Sent as it is, whatever it is. */
  readonly method: string;
  /** The request target (RFC 9112, 3.2), base path included. */
  readonly target: string;
  /** In the order in which they are sent; one may be there twice. */
  readonly headers: readonly Header[];
  /** Text is sent as UTF-8. */
  readonly body?: string | Uint8Array;
  /** The body is sent in chunks, its length not announced. */
  readonly chunked?: true;
  /** The body is sent only after "100 Continue". */
  readonly awaitsContinue?: true;
}

/** Bytes to put on the connection as they are; text is sent as Latin-1, a byte a character. */
export interface RawRequest {
  /** From the request line on, line ends included. */
  readonly raw: string;
}

/** What must come back. What every answer promises (`checkAnswer`) goes without saying. */
export interface Expectation {
  readonly status: number;
  /** Of the error; every error has one. */
  readonly code?: ErrorCode;
  /** What the error's message says, at least. */
  readonly message?: RegExp;
  /** Headers that must have this value, match, or, with `null`, be absent. */
  readonly headers?: Readonly<Record<string, string | RegExp | null>>;
  /** The body to the byte, or what it has to have; `{{id}}` stands for the new animal's. */
  readonly body?: string | RegExp;
  /** The server closes the connection after the answer, and answers nothing more on it. Looked at over a socket only. */
  readonly closes?: true;
  /** The server leaves the connection open, and says so. Looked at over a socket only. */
  readonly staysOpen?: true;
  /** The statuses of the interim answers; none when left out. */
  readonly interim?: readonly number[];
  /** How many milliseconds the answer may take. */
  readonly within?: number;
  /** Further answers on the same connection, in this order. */
  readonly further?: readonly Expectation[];
}

/** The API keys that a service has from its start. */
export interface HttpKeys {
  /** A key that may do everything, from the settings. */
  readonly key: string;
  /** Another of the same kind. */
  readonly secondKey: string;
  /** A managed key that may do everything. */
  readonly managedKey: string;
  /** A managed key with the scope `pets:read` only. */
  readonly readOnlyKey: string;
  /** A managed key with the scope `pets:write` only. */
  readonly writeOnlyKey: string;
  /** A managed key that was good until its `expiresAt`. */
  readonly expiredKey: string;
  /** A managed key that was good until it was revoked. */
  readonly revokedKey: string;
}

/** What stands in double braces in a row's texts. */
export interface Values extends HttpKeys {
  /** The path that operations are below. */
  readonly base: string;
  /** Host and port of the service. */
  readonly host: string;
  /** The id of the first animal of `SEED`. */
  readonly pet: string;
  /** The cursor behind the first animal, in the list of all, and in that of the sold ones. */
  readonly cursor: string;
  readonly soldCursor: string;
  /** The entity tag of the first animal, with its quotes and without; and that of the list of it alone. */
  readonly petTag: string;
  readonly petTagText: string;
  readonly listTag: string;
}

/** The animals that are in the store before the rows come, in this order, as JSON without their ids. */
export const SEED = [
  '"name":"Ada","categoryId":-9223372036854775808,"status":"available"',
  '"name":"Bo","categoryId":0,"status":"pending"',
  '"name":"Cy","categoryId":9007199254740993,"status":"sold"',
  '"name":"Di","categoryId":9223372036854775807,"status":"available"',
  '"name":"Ed","categoryId":4,"status":"sold"',
] as const;

/** A valid animal, for requests that are about something else. */
export const PET = '{"name":"Bella","categoryId":7}';

export const bearer = (key = '{{key}}'): Header => ['Authorization', `Bearer ${key}`];
export const JSON_CONTENT: Header = ['Content-Type', 'application/json'];

/** A request with a good key; `path` is below the base path. */
export const send = (method: string, path: string, ...headers: Header[]): RowRequest => ({
  method,
  target: `{{base}}${path}`,
  headers: [bearer(), ...headers],
});

export const get = (path: string, ...headers: Header[]): RowRequest => send('GET', path, ...headers);

/** Adds an animal, with a good key, as JSON. */
export const post = (body: string | Uint8Array, ...headers: Header[]): RowRequest => ({
  ...send('POST', '/pets', JSON_CONTENT, ...headers),
  body,
});

/** Replaces what stands in double braces. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (braced, name: string) => values[name] ?? braced);
