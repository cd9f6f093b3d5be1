import type { HttpRequest } from '../http-message.js';
import type { Route } from '../routes/route.js';
import { allowedMethods } from '../routes/route.js';

/** What pages of other origins may read of an answer, beyond what Fetch lets them read always. */
const EXPOSED = [
  'Link',
  'Location',
  'Deprecation',
  'Sunset',
  'ETag',
  'Retry-After',
  'X-Request-Id',
  'Idempotency-Replayed',
  'WWW-Authenticate',
].join(', ');

/** What they may send, beyond the same. */
const SENDABLE = 'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id';

/** How long a browser may remember the answer to a preflight, in seconds: two hours, the most that all heed. */
const PREFLIGHT_LIFETIME = 7200;

/**
 * The headers by which a browser lets pages of the origins use the interface (Fetch, 3.3: the CORS protocol).
 * None without origins. Credentials in its sense, cookies that is, are not in play: a page has the key or has not.
 * @param origins as browsers send them; `*` alone is any
 */
export function crossOriginHeaders(
  origins: readonly string[],
  request: HttpRequest,
  route: Route | undefined,
): Readonly<Record<string, string>> {
  if (origins.length === 0) return {};
  const any = origins.includes('*');
  const origin = request.header('origin');
  // Caches must not give one origin's answer to another, nor the answer to no origin.
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
