import type { Principal } from '../../application/ports/authenticator.js';

/** A request, without any framework. Each transport makes one from what it received. */
export interface HttpRequest {
  /** As sent: case matters. */
  readonly method: string;
  /** The path as sent, percent-encoded, without the query. */
  readonly path: string;
  /** What follows the first `?`, as sent. Empty without one. */
  readonly query: string;
  /**
   * The value of a header, by its name in lower case. Several values are joined by `, ` (RFC 9110, 5.3): none may be
   * dropped.
   */
  header(name: string): string | undefined;
  /**
   * Reads the whole body, once: its bytes, or its text if they are decoded already. Empty if there is none. A client
   * that sent `Expect: 100-continue` is told to continue only now.
   * @throws {HttpError} `payload_too_large` beyond `limit` bytes. The rest is not read.
   */
  readBody(limit: number): Promise<Uint8Array | string>;
  /**
   * Calls the listener when the client disconnects, at once if it has already. May also call it after the response. The
   * interface sets one listener for each request.
   */
  onDisconnect(listener: () => void): void;
  /** Calls the listener once the client has all of the response, or has disconnected. Omit if that is unknown. */
  onSent?(listener: () => void): void;
  /** The IP address at the other end of the connection. Omit if it is unknown. */
  readonly remoteAddress?: string | undefined;
  /** Called when the API key turned out to be valid. Omit if the transport has no use for it. */
  onAuthenticated?(principal: Principal): void;
}

/** Header fields (RFC 9110, 6.3) by their usual names, each with one value. */
export type HeaderFields = Readonly<Record<string, string>>;

/** A complete response. A HEAD request gets it without the body. */
export interface HttpResponse {
  /** The HTTP status: 200 to 599. */
  readonly status: number;
  /** A transport appends `Vary` to the host's own. */
  readonly headers: HeaderFields;
  /** Text, to be sent as UTF-8, or bytes. Empty without a body. */
  readonly body: string | Uint8Array;
  /** The code of an error, for the log. */
  readonly code?: string;
  /** Why the status is 500 or above, for the host; absent if the service is only busy. It may reveal internals. */
  readonly failure?: Error | undefined;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Lets clients cache a response, but revalidate it before each use. */
export const REVALIDATED = { 'Cache-Control': 'private, no-cache' };
export const REVALIDATED_JSON = { 'Content-Type': JSON_TYPE, ...REVALIDATED };

/** Lets nobody cache a response. */
export const UNCACHED = { 'Cache-Control': 'no-store' };
export const UNCACHED_JSON = { 'Content-Type': JSON_TYPE, ...UNCACHED };

/** The headers of every response. */
export const commonHeaders = (requestId: string): HeaderFields => ({
  'X-Request-Id': requestId,
  'X-Content-Type-Options': 'nosniff',
});

/** The client's request id if it is safe (1 to 128 of `A-Za-z0-9._-`), else a random UUID. */
export const safeRequestId = (sent?: string): string =>
  sent !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(sent) ? sent : crypto.randomUUID();

/** The length of the body that a request announces, in bytes; 0 if it announces none. */
export const announcedLength = (request: Pick<HttpRequest, 'header'>): number =>
  Number(request.header('content-length') ?? 0);

/**
 * Splits a request target in origin-form or absolute-form (RFC 9112, 3.2), without scheme and authority. Decodes and
 * resolves nothing. An empty path is `/` (RFC 9110, 4.2.3).
 */
export function splitRequestTarget(target: string): Pick<HttpRequest, 'path' | 'query'> {
  const originForm = target.replace(/^[a-z][\w+.-]*:\/\/[^/?]*/i, '');
  const [path = ''] = originForm.split('?', 1);
  return { path: path || '/', query: originForm.slice(path.length + 1) };
}
