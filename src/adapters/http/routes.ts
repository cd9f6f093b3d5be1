import type { Principal, Scope } from '../../application/ports/authenticator.js';
import type { Permit } from './admission.js';
import {
  encodedForLink,
  type HeaderFields,
  type HttpRequest,
  type HttpResponse,
} from './http-message.js';
import type { RequestTimer } from './request-timer.js';

/** A path that is served. Transports match paths, and leave methods to the interface. */
export interface Route {
  /** The whole path. Its last segment may be the parameter `{petId}`. */
  readonly path: string;
  /** By method. HEAD and OPTIONS follow from the others. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  /** Whether it needs no key. */
  readonly open: boolean;
}

/** One method of a route. Only `HttpInterface` calls it. */
export interface Endpoint {
  /** The operation of the interface, for routers that name their routes; or the name of such a route. */
  readonly operation?: string | undefined;
  /** The scope that a key needs. */
  readonly scope?: Scope;
  /** When the operation will be removed, if it is deprecated. */
  readonly sunset?: Date | undefined;
  /** Returns the headers of its every response. */
  readonly headers?: ((linkBase: string) => HeaderFields) | undefined;
  /** What to use instead, below the base path, if the operation was removed. */
  readonly removed?: string | undefined;
  /** Served even at capacity: health checks need a response precisely then. */
  readonly alwaysServed?: boolean;
  handle(context: RequestContext): HttpResponse | Promise<HttpResponse>;
}

/** A request while it is handled. */
export interface RequestContext {
  readonly request: HttpRequest;
  /** The X-Request-Id of the response. */
  readonly requestId: string;
  /** When its handling began, by the clock of `performance`. */
  readonly began: number;
  /** The route of the path, and its endpoint for the method, if they exist. */
  readonly route: Route | undefined;
  readonly endpoint: Endpoint | undefined;
  /** The parameters of the path, decoded. */
  readonly parameters: FoundRoute['parameters'];
  readonly timer: RequestTimer;
  /** Aborted when the time is over or the client has disconnected. */
  readonly signal: AbortSignal;
  /** Returns where the client finds the operations: what Location and Link begin with. Most responses have neither. */
  readonly linkBase: () => string;
  /** `UNBOUNDED` until the request is admitted, and for one that is always served. */
  permit: Permit;
  /** Set once the key turned out to be valid. Never set on open routes. */
  principal?: Principal;
  /** Set once the request was counted by a rate limiter. */
  quotaHeaders?: HeaderFields;
}

/** A route that answers GET and needs no key. */
export const openRoute = (path: string, endpoint: Endpoint): Route => ({
  path,
  endpoints: new Map([['GET', endpoint]]),
  open: true,
});

/**
 * The path that the transport is mounted under, percent-encoded; empty at the root. It is what the client sent,
 * without the route's own segments. If a host has rewritten the end of the path, the rewritten path counts.
 */
export function mountOf({ path, originalPath = path }: HttpRequest, route: Route): string {
  const isRewritten = !originalPath.startsWith('/') || !originalPath.endsWith(path);
  const whole = isRewritten ? path : originalPath;
  let end = whole.length;
  // Cuts as many segments as the route has. Arrays of them would take twice as long, in most requests.
  for (const character of route.path) if (character === '/') end = whole.lastIndexOf('/', end - 1);
  if (end === 0) return '';
  // Two slashes at the start would begin a host.
  return encodedForLink(whole.slice(0, end).replace(/^\/+/, '/'));
}

/**
 * The value of an Allow header (RFC 9110, 10.2.1): every method that these routes support, without removed operations.
 * HEAD and OPTIONS follow from them.
 */
export function allowedMethods(...routes: readonly Route[]): string {
  const methods = new Set<string>();
  for (const { endpoints } of routes) {
    for (const [method, { removed }] of endpoints) {
      if (removed !== undefined) continue;
      methods.add(method);
      if (method === 'GET') methods.add('HEAD');
    }
  }
  return [...methods, 'OPTIONS'].join(', ');
}

/** The route of a path, and the path's parameters. */
export interface FoundRoute {
  /** The route with this path. */
  readonly route: Route;
  /** By name, decoded once; as sent if the percent-encoding is malformed. */
  readonly parameters: Readonly<Record<string, string>>;
}

const PET_ID = '{petId}';

/**
 * Finds the route of a path. Compares exactly: case, slashes and percent-encoding count. The only parameter that a path
 * can have is `{petId}`, its last segment.
 */
export function createRouteFinder(
  routes: readonly Route[],
): (path: string) => FoundRoute | undefined {
  const byPath = new Map<string, FoundRoute>();
  const byFolder = new Map<string, Route>();
  for (const route of routes) {
    if (route.path.endsWith(PET_ID)) byFolder.set(route.path.slice(0, -PET_ID.length), route);
    else byPath.set(route.path, { route, parameters: {} });
  }
  return (path) => {
    const fixed = byPath.get(path);
    if (fixed) return fixed;
    const start = path.lastIndexOf('/') + 1;
    const route = byFolder.get(path.slice(0, start));
    const petId = path.slice(start);
    return route && petId ? { route, parameters: { petId: decoded(petId) } } : undefined;
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
