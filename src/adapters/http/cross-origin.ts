import type { HeaderFields, HttpRequest } from './http-message.js';
import { allowedMethods, type Route } from './routes.js';

/** Response headers that pages of other origins may read, beyond those that the Fetch standard always allows. */
const EXPOSED =
  'Link, Location, Deprecation, Sunset, ETag, Retry-After, X-Request-Id, Idempotency-Replayed, ' +
  'WWW-Authenticate, Allow, Accept';

/**
 * The headers by which a browser lets pages of these origins use the interface (CORS, Fetch 3.3). Cookies are not
 * used: a page needs a key.
 * @param origins as browsers send them; `*` alone is any; empty is none
 */
export function crossOriginHeaders(
  origins: readonly string[],
  request: Pick<HttpRequest, 'method' | 'header'>,
  route?: Route,
): HeaderFields {
  if (origins.length === 0) return {};
  const allowsAny = origins.includes('*');
  // Without Vary a cache could serve the response for one origin to another.
  const vary = allowsAny ? {} : { Vary: 'Origin' };
  const origin = request.header('origin');
  if (origin === undefined || !(allowsAny || origins.includes(origin))) return vary;
  const allowed = { 'Access-Control-Allow-Origin': allowsAny ? '*' : origin, ...vary };
  const isPreflight =
    request.method === 'OPTIONS' && request.header('access-control-request-method') !== undefined;
  if (!isPreflight || !route) return { ...allowed, 'Access-Control-Expose-Headers': EXPOSED };
  return {
    ...allowed,
    'Access-Control-Allow-Methods': allowedMethods(route),
    // Whatever the page asks for: without cookies, a header allows a page no more than its key does.
    'Access-Control-Allow-Headers': request.header('access-control-request-headers') ?? '',
    'Access-Control-Max-Age': '7200', // in seconds; each browser has a limit of its own
  };
}
