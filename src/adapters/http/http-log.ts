import type { HttpRequest, HttpResponse } from './http-message.js';

/** Receives a report of every response, never with a key, a body or a query. Its errors are ignored. */
export interface HttpLog {
  /** Called for every request when its response is complete, whatever its status. Synchronous: nothing awaits it. */
  responded(request: RespondedRequest): void;
}

/** A request and its response. */
export interface RespondedRequest {
  /** The X-Request-Id of the response. */
  readonly requestId: string;
  /** As sent. `-` if the server could not parse it. The same holds for `path`. */
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** The operation, if the request is for one. */
  readonly operation?: string | undefined;
  /** Whether it is a health check. */
  readonly isHealthCheck?: boolean | undefined;
  /** The address of the connection, which may be a proxy's, if it is known. */
  readonly clientAddress?: string | undefined;
  /** The header X-Forwarded-For, as sent, which any client can forge: at most 256 characters. */
  readonly forwardedFor?: string | undefined;
  /** The header User-Agent, as sent. */
  readonly userAgent?: string | undefined;
  /** The header traceparent (W3C Trace Context), as sent. */
  readonly traceparent?: string | undefined;
  /** Identifies the API key, if it is valid, or was until it expired or was revoked. */
  readonly keyId?: string | undefined;
  /** Why the API key is invalid, if the request was refused for it. */
  readonly keyFault?: 'unknown' | 'expired' | 'revoked' | undefined;
  /** The HTTP status. */
  readonly status: number;
  /** The error code, if it is an error. */
  readonly code?: string | undefined;
  /** The cause of a status of 500 or above. It may reveal internals. */
  readonly error?: unknown;
  /** The length of the body, in bytes; for HEAD that of GET. */
  readonly bytes: number;
  /** From the request's headers to the complete response, before it is sent. 0 if no work was done. */
  readonly milliseconds: number;
}

const byteLength: (text: string) => number =
  'Buffer' in globalThis
    ? (text) => globalThis['Buffer'].byteLength(text)
    : (text) => new TextEncoder().encode(text).length;

/** Logs a response and the request that it answers. If the log throws, the response is still sent. */
export function logResponse(
  log: HttpLog | undefined,
  request: Pick<HttpRequest, 'method' | 'path' | 'header'>,
  { status, code, body }: HttpResponse,
  details: Pick<RespondedRequest, 'requestId' | 'milliseconds'> & Partial<RespondedRequest>,
): void {
  try {
    log?.responded({
      ...details,
      method: request.method,
      path: request.path,
      forwardedFor: request.header('x-forwarded-for')?.slice(0, 256),
      userAgent: request.header('user-agent'),
      traceparent: request.header('traceparent'),
      status,
      code,
      error: status >= 500 ? details.error : undefined,
      bytes: typeof body === 'string' ? byteLength(body) : body.length,
    });
  } catch {
    // There is nowhere to report this.
  }
}
