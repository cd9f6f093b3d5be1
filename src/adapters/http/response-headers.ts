import { JSON_TYPE, type HttpRequest, type HttpResponse } from './http-message.js';
import { allowedMethods, type Route } from './routes.js';

/** The headers of a JSON response that a client may cache, but must revalidate before each use. */
export const READ_HEADERS = { 'Content-Type': JSON_TYPE, 'Cache-Control': 'private, no-cache' };

/** Response headers that pages of other origins may read, beyond those that the Fetch standard always allows. */
const EXPOSED =
  'Link, Location, Deprecation, Sunset, ETag, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, Idempotency-Replayed, WWW-Authenticate';

/** Request headers that such pages may send, beyond those that the standard always allows. */
const SENDABLE = 'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id';

/** How long a browser may cache a preflight response, in seconds. Two hours is the most that all browsers honour. */
const PREFLIGHT_LIFETIME = 7200;

/**
 * The headers by which a browser lets pages of these origins use the interface (CORS, Fetch 3.3). No cookies: a page
 * has a key or not.
 * @param origins as browsers send them; `*` alone is any; empty is none
 */
export function crossOriginHeaders(
  origins: readonly string[],
  request: Pick<HttpRequest, 'method' | 'header'>,
  route?: Route,
): Readonly<Record<string, string>> {
  if (origins.length === 0) return {};
  const any = origins.includes('*');
  const origin = request.header('origin');
  // Without it a cache could serve the response for one origin to another.
  const vary = any ? {} : { Vary: 'Origin' };
  if (origin === undefined || !(any || origins.includes(origin))) return vary;
  const allowed = { 'Access-Control-Allow-Origin': any ? '*' : origin, ...vary };
  const isPreflight =
    request.method === 'OPTIONS' && request.header('access-control-request-method') !== undefined;
  if (!isPreflight) return { ...allowed, 'Access-Control-Expose-Headers': EXPOSED };
  if (route === undefined) return allowed;
  return {
    ...allowed,
    'Access-Control-Allow-Methods': allowedMethods(route),
    'Access-Control-Allow-Headers': SENDABLE,
    'Access-Control-Max-Age': String(PREFLIGHT_LIFETIME),
  };
}

/**
 * Adds the ETag to a 200 (RFC 9110, 8.8.3), or makes it a 304 if the client has that already (`If-None-Match`, 13.1.2).
 * The tag covers body and Link: the body of a full last page stays the same when a next page appears.
 */
export async function conditional(
  request: HttpRequest,
  { status, headers, body }: HttpResponse,
  digest = digestOf({ headers, body }),
): Promise<HttpResponse> {
  const entityTag = `"${(await digest).slice(0, DIGITS)}"`;
  if (!isMatch(request.header('if-none-match'), entityTag)) {
    return { status, headers: { ...headers, ETag: entityTag }, body };
  }
  const { 'Content-Type': _type, ...others } = headers;
  return { status: 304, headers: { ...others, ETag: entityTag }, body: '' };
}

/** The hash of Link and body. A promise where only Web Crypto is available. */
export const digestOf = ({ headers, body }: Pick<HttpResponse, 'headers' | 'body'>) =>
  sha256(`${headers['Link'] ?? ''}\n${body}`);

/** Compares weakly, as If-None-Match requires. */
const isMatch = (ifNoneMatch: string | undefined, entityTag: string): boolean =>
  ifNoneMatch !== undefined &&
  (ifNoneMatch.trim() === '*' ||
    ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === entityTag));

/** Enough base64url digits of a SHA-256 to rule out collisions: 132 bits. */
const DIGITS = 22;

// For texts this short, Web Crypto takes twenty times as long as Node's own hash.
const { hash } = globalThis['process']?.getBuiltinModule?.('node:crypto') ?? {};

const sha256: (text: string) => string | Promise<string> = hash
  ? (text) => hash('sha256', text, 'base64url')
  : async (text) => {
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
      return btoa(String.fromCharCode(...new Uint8Array(digest)))
        .replaceAll('+', '-')
        .replaceAll('/', '_');
    };
