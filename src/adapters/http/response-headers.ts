import type { HeaderFields, HttpRequest } from './http-message.js';
import { allowedMethods, type Route } from './routes.js';

/** Response headers that pages of other origins may read, beyond those that the Fetch standard always allows. */
const EXPOSED =
  'Link, Location, Deprecation, Sunset, ETag, Retry-After, RateLimit, RateLimit-Policy, ' +
  'X-Request-Id, Idempotency-Replayed, WWW-Authenticate, Allow, Accept, Accept-Encoding, ' +
  'Accept-Patch';

/** Request headers that such pages may send, beyond those that the standard always allows. */
const SENDABLE =
  'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id, ' +
  // What agents in a page add to trace it: W3C, B3, Jaeger, Sentry, Datadog, New Relic, Elastic, Dynatrace, Instana, AWS,
  // Azure, Google, SkyWalking. No more than these: a proxy or host may act on other headers, such as X-Forwarded-User.
  'traceparent, tracestate, baggage, b3, X-B3-TraceId, X-B3-SpanId, X-B3-ParentSpanId, ' +
  'X-B3-Sampled, X-B3-Flags, uber-trace-id, sentry-trace, x-datadog-trace-id, ' +
  'x-datadog-parent-id, x-datadog-origin, x-datadog-sampling-priority, x-datadog-tags, newrelic, ' +
  'elastic-apm-traceparent, x-dtc, x-dtpc, X-INSTANA-T, X-INSTANA-S, X-INSTANA-L, ' +
  'X-Amzn-Trace-Id, Request-Id, Request-Context, X-Cloud-Trace-Context, sw8';

/**
 * The headers by which a browser lets pages of these origins use the interface (CORS, Fetch 3.3). No cookies: a page
 * has a key or not.
 * @param origins as browsers send them; `*` alone is any; empty is none
 */
export function crossOriginHeaders(
  origins: readonly string[],
  request: Pick<HttpRequest, 'method' | 'header'>,
  route?: Route,
): HeaderFields {
  if (origins.length === 0) return {};
  const allowsAny = origins.includes('*');
  // Without it a cache could serve the response for one origin to another.
  const vary = allowsAny ? {} : { Vary: 'Origin' };
  const origin = request.header('origin');
  if (origin === undefined) return vary;
  if (!allowsAny && !origins.includes(origin)) return vary;
  const allowed = { 'Access-Control-Allow-Origin': allowsAny ? '*' : origin, ...vary };
  const isPreflight =
    request.method === 'OPTIONS' && request.header('access-control-request-method') !== undefined;
  if (!isPreflight) return { ...allowed, 'Access-Control-Expose-Headers': EXPOSED };
  if (route === undefined) return allowed;
  const isChangeable = route.endpoints.has('PATCH') || route.endpoints.has('DELETE');
  return {
    ...allowed,
    'Access-Control-Allow-Methods': allowedMethods(route),
    'Access-Control-Allow-Headers': SENDABLE + (isChangeable ? ', If-Match' : ''),
    'Access-Control-Max-Age': '7200', // in seconds: the most that all browsers honour
  };
}
