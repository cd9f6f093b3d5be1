import type { Principal, Scope } from '../../application/ports/authenticator.js';
import type { Permit } from './admission.js';
import type { HeaderFields, HttpRequest, HttpResponse } from './http-message.js';
import type { RequestTimer } from './request-timer.js';

/** A path that is served, with its endpoints. */
export interface Route {
  /** The whole path. Its last segment may be the parameter `{petId}`. */
  readonly path: string;
  /** By method. HEAD and OPTIONS follow from the others. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  /** Whether it can be called without a key. */
  readonly open: boolean;
}

/** One method of a route. */
export interface Endpoint {
  /** The operation of the interface, for logs and for routers that name their routes. */
  readonly operation?: 'listPets' | 'createPet' | 'getPet' | 'changePet' | 'removePet';
  /** The scope that a key needs. */
  readonly scope?: Scope;
  /** Headers of all its responses. */
  readonly headers?: HeaderFields;
  /** Whether it is a health check: served even at capacity. */
  readonly isHealthCheck?: boolean;
  handle(context: RequestContext): HttpResponse | Promise<HttpResponse>;
}

/** A request while it is handled. */
export interface RequestContext {
  readonly request: HttpRequest;
  /** The X-Request-Id of the response. */
  readonly requestId: string;
  /** When its handling began, by the clock of `performance`. */
  readonly began: number;
  /** The endpoint for its path and method, if there is one. */
  readonly endpoint: Endpoint | undefined;
  /** The parameter of its path, decoded, if it has one. */
  readonly petId: string | undefined;
  readonly timer: RequestTimer;
  /** The signal of `timer`. */
  readonly signal: AbortSignal;
  /** Its place among the requests in progress. `UNBOUNDED` until it is admitted. */
  permit: Permit;
  /** Who is calling, once the key turned out to be valid. Never set on open routes. */
  principal?: Principal;
}

/** A route that answers GET and needs no key. */
export const openRoute = (path: string, endpoint: Endpoint): Route => ({
  path,
  endpoints: new Map([['GET', endpoint]]),
  open: true,
});

/** The value of an Allow header (RFC 9110, 10.2.1). HEAD follows from GET, and OPTIONS is always there. */
export const allowedMethods = ({ endpoints }: Route): string =>
  [...endpoints.keys(), 'OPTIONS'].join(', ').replace('GET', 'GET, HEAD');

/** The route of a path. */
export interface FoundRoute {
  readonly route: Route;
  /** The last segment of the path, decoded, if it is a parameter of the route. */
  readonly petId?: string | undefined;
}

/** The only parameter of a path. */
export const PET_ID = '{petId}';

/** Finds the route of a path. Compares exactly: case, slashes and percent-encoding count. */
export function createRouteFinder(
  routes: readonly Route[],
): (path: string) => FoundRoute | undefined {
  const byPath = new Map(routes.map((route) => [route.path, { route }]));
  return (path) => {
    const exact = byPath.get(path);
    if (exact) return exact;
    const start = path.lastIndexOf('/') + 1;
    const found = byPath.get(path.slice(0, start) + PET_ID);
    const petId = path.slice(start);
    return found && petId !== '' ? { ...found, petId: decoded(petId) } : undefined;
  };
}

/** Decodes percent-encoding. Malformed text stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
