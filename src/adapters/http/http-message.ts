import type { Principal } from '../../application/ports/authenticator.js';

/** A request, apart from any framework. Each transport makes one of what it received. */
export interface HttpRequest {
  /** As sent, in upper case. */
  readonly method: string;
  /** The path as sent, percent-encoded, without the query. */
  readonly path: string;
  /** The path as the client sent it, if the host has changed it, such as by removing the prefix of a mounted part. */
  readonly originalPath?: string | undefined;
  /** What follows the first `?`, as sent. Empty without one. */
  readonly query: string;
  /**
   * The value of a header, by its name in lower case. Several values are joined by `, ` (RFC 9110, 5.3): none may be
   * dropped.
   */
  header(name: string): string | undefined;
  /**
   * Reads the whole body, once. Empty if there is none. A client that sent `Expect: 100-continue` is told to continue
   * only now.
   * @throws {HttpError} `payload_too_large` beyond `limit` bytes. The rest is not read.
   */
  readBody(limit: number): Promise<Uint8Array>;
  /** Calls the listener when the client has disconnected; at once if it has already. */
  onGone(listener: () => void): void;
  /** The IP address at the other end of the connection. Omit if it is unknown. */
  readonly remoteAddress?: string | undefined;
  /** Called when the API key turned out to be valid. Omit if the transport has no use for it. */
  onAuthenticated?(principal: Principal): void;
  /** Runs a task, such as logging, that need not delay the response. Omit it to run such tasks before the response. */
  afterResponse?(task: () => void): void;
}

/** A complete response. A HEAD request gets it without the body. */
export interface HttpResponse {
  /** The HTTP status: 200 to 599. */
  readonly status: number;
  /** By their usual names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Text of the Content-Type. Empty without a body. */
  readonly body: string;
  /** The code of an error, for the log. */
  readonly code?: string;
  /** Why the status is 500 or above, for the host; absent if the service is only busy. It may reveal internals. */
  readonly fault?: Error;
}

/** Header fields (RFC 9110, 6.3) by their usual names, each with one value. */
export type HeaderFields = HttpResponse['headers'];

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Lets clients cache a response, but revalidate it before each use. */
export const REVALIDATED = { 'Cache-Control': 'private, no-cache' };

/** Lets nobody cache a response. */
export const UNCACHED = { 'Cache-Control': 'no-store' };

/** The headers of every response. */
export const commonHeaders = (requestId: string): HeaderFields => ({
  'X-Request-Id': requestId,
  'X-Content-Type-Options': 'nosniff',
});

/** The length of the body that a request announces, in bytes; 0 if it announces none. */
export const announcedLength = (request: HttpRequest): number =>
  Number(request.header('content-length') ?? 0);

/**
 * Splits a request target in origin-form or absolute-form (RFC 9112, 3.2), without scheme and authority. Decodes and
 * resolves nothing. Keeps an absolute-form that is not HTTP or has no authority (RFC 9110, 4.2), and the authority of a
 * CONNECT, without user and password: no route matches them, and logs have the path. An empty path of an absolute-form
 * is `/` (RFC 9110, 4.2.3), and without a query it is the `*` of OPTIONS (RFC 9112, 3.2.4).
 */
export function splitRequestTarget(
  target: string,
  method?: string,
): Pick<HttpRequest, 'path' | 'query'> {
  const origin = target.startsWith('/') ? target : originForm(target, method);
  const mark = origin.indexOf('?');
  if (mark === -1) return { path: origin, query: '' };
  return { path: origin.slice(0, mark), query: origin.slice(mark + 1) };
}

function originForm(target: string, method: string | undefined): string {
  const authority = /^https?:\/\/[^/?]+/i.exec(target)?.[0];
  if (authority === undefined) return target.replace(/^([a-z][\w+.-]*:\/\/)?[^/?]*@/i, '$1');
  const rest = target.slice(authority.length);
  if (rest === '' && method === 'OPTIONS') return '*';
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Encodes the characters that could end a link. It keeps the rest as sent: decoding cannot always be undone. */
export const encodedForLink = (text: string): string =>
  text.toWellFormed().replaceAll(/[^\w.~!$&'()*+,;=:@/?%-]/gu, encodeURIComponent);
