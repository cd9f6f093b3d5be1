import type { AnimalStore } from '../../application/animal-store.js';
import type { Authenticator } from '../../application/ports/authenticator.js';
import { BusyError, UNBOUNDED, type Admission } from './admission.js';
import { docsRoutes, documentRoute, type DocsFile } from './docs-routes.js';
import { HttpError, clientDisconnected, detailedError, errorResponse } from './error-responses.js';
import { healthRoutes, type Readiness } from './health.js';
import { report, type HttpLog } from './http-log.js';
import {
  UNCACHED,
  commonHeaders,
  type HeaderFields,
  type HttpRequest,
  type HttpResponse,
} from './http-message.js';
import { completeSettings, type HttpSettings } from './http-settings.js';
import { operationRoutes } from './operation-handlers.js';
import { ACCEPT_PATCH } from './request-body.js';
import { requestCounter, type RateLimiter } from './rate-limit.js';
import { InvalidKeyError, authenticate, requestId, requireScope } from './request-headers.js';
import { RequestTimer } from './request-timer.js';
import { crossOriginHeaders } from './response-headers.js';
import {
  allowedMethods,
  createRouteFinder,
  mountOf,
  type Endpoint,
  type FoundRoute,
  type RequestContext,
  type Route,
} from './routes.js';

/** What the HTTP interface works with. It closes none of these. */
export interface HttpInterfaceOptions {
  /** Does what the operations ask for. */
  readonly animalStore: AnimalStore;
  /** Checks the bearer token (RFC 6750) of every request, except on open routes. */
  readonly authenticator: Authenticator;
  /** Limits the requests of each API key. Omit for no limit. */
  readonly rateLimiter?: RateLimiter | undefined;
  /** Answers `/readyz`. */
  readonly readiness: Readiness;
  /** Bounds the requests in progress. Omit for no bounds: those of the host then hold. */
  readonly admission?: Admission | undefined;
  /**
   * Returns the address of a client, for the log, which has none if it throws. Default: the address of the connection,
   * which may be a proxy's.
   */
  readonly clientAddress?: ((request: HttpRequest) => string | undefined) | undefined;
  /** Settings that differ from their defaults. Only their types are checked. */
  readonly settings?: Partial<HttpSettings> | undefined;
  /** Called for every response. Omit to log nothing. */
  readonly log?: HttpLog | undefined;
  /** The files of the docs page. Omit to serve nothing at `/docs` and `/`. */
  readonly docs?: readonly DocsFile[] | undefined;
}

/**
 * The HTTP interface, apart from any framework: handles the requests that transports receive. Responses are equal on
 * every transport, because all are made here.
 */
export class HttpInterface {
  /** Every path that is served. */
  readonly routes: readonly Route[];
  /** The settings, completed by their defaults. */
  readonly settings: HttpSettings;
  readonly #options: HttpInterfaceOptions;
  readonly #findRoute: (path: string) => FoundRoute | undefined;
  readonly #countRequest: ReturnType<typeof requestCounter> | undefined;

  /** @throws {TypeError} a setting has another type than its default */
  constructor(options: HttpInterfaceOptions) {
    const { animalStore, rateLimiter, docs } = options;
    const settings = completeSettings({
      ...options.settings,
      rateLimit: rateLimiter?.limit,
      idempotencyKeys: animalStore.keepsIdempotencyKeys ?? true,
    });
    this.settings = settings;
    this.#options = options;
    this.routes = [
      ...operationRoutes(animalStore, settings),
      ...healthRoutes(options.readiness),
      documentRoute(settings),
      ...(docs ? docsRoutes(docs, settings) : []),
    ];
    this.#findRoute = createRouteFinder(this.routes);
    this.#countRequest = rateLimiter && requestCounter(rateLimiter);
  }

  /** The value of an Allow header that names every method of every path. */
  get allow(): string {
    return allowedMethods(...this.routes);
  }

  /**
   * Handles a request. Always resolves, soon after the deadline at the latest: an error becomes a response, and is
   * logged.
   * @param found the route that a router has matched. Omit it to find the route by the path
   */
  async handle(request: HttpRequest, found = this.#findRoute(request.path)): Promise<HttpResponse> {
    const context = this.#contextOf(request, found);
    const { endpoint, timer } = context;
    request.onGone(() => timer.abort(clientDisconnected));

    const work = this.#respond(context);
    let response: HttpResponse;
    let thrown: unknown;
    try {
      response = await timer.limit(work);
    } catch (error) {
      thrown = error;
      response = errorResponse(error, context.requestId);
    }
    timer.stop();
    // `#respond` has put the permit of the admission into the context. The permit may count work after the deadline, too.
    context.permit.end(response.body.length, timer.signal.aborted ? work : undefined);

    this.#report(context, response, thrown);
    const { status, body } = response;
    const headers = this.#headersOf(context, response.headers);
    // A failed health check and a refusal for being busy are no faults: the service responds as intended.
    const isIntended = endpoint?.alwaysServed || thrown instanceof BusyError;
    if (status < 500 || isIntended) return { status, headers, body };
    return { status, headers, body, fault: asError(thrown) };
  }

  #contextOf(request: HttpRequest, found: FoundRoute | undefined): RequestContext {
    const began = performance.now();
    const timer = new RequestTimer(this.settings.requestDeadline);
    const { route, parameters = {} } = found ?? {};
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    return {
      request,
      requestId: requestId(request.header('x-request-id')),
      began,
      route,
      endpoint: route?.endpoints.get(method),
      parameters,
      timer,
      signal: timer.signal,
      linkBase: () => this.#linkBase(request, route),
      permit: UNBOUNDED,
    };
  }

  #report(context: RequestContext, response: HttpResponse, thrown: unknown): void {
    const { request, endpoint, principal } = context;
    const { operation, sunset, alwaysServed: isProbe } = endpoint ?? {};
    report(this.#options.log, request, response, {
      requestId: context.requestId,
      operation,
      sunset,
      isProbe,
      clientAddress: this.#addressOf(request),
      keyId: principal?.keyId,
      keyFault: thrown instanceof InvalidKeyError ? thrown.fault : undefined,
      error: thrown,
      milliseconds: performance.now() - context.began,
    });
  }

  /**
   * The order of the checks: OPTIONS, admission, key, admission of its caller, path, method, removed, quota, scope;
   * then the operation's own.
   */
  async #respond(context: RequestContext): Promise<HttpResponse> {
    const { request, route, endpoint } = context;
    if (request.method === 'OPTIONS') return this.#describe(request.path, route);
    const { admission } = this.#options;
    if (admission && !endpoint?.alwaysServed) context.permit = admission.admit(request);
    if (this.#needsKey(request.path, route)) await this.#authenticate(context);
    const turn = context.permit.admitCaller(context.principal?.keyId ?? '');
    if (turn) await turn;
    if (!route) throw new HttpError('route_not_found');
    if (!endpoint) throw methodNotAllowed(route);
    if (endpoint.removed !== undefined) {
      const replacement = context.linkBase() + endpoint.removed;
      throw detailedError('operation_removed', { replacement });
    }
    await this.#authorize(context, endpoint);
    return endpoint.handle(context);
  }

  /** Whether a request needs a key. Below the base path, one for an unknown path does, too. */
  #needsKey(path: string, route: Route | undefined): boolean {
    return route ? !route.open : `${path}/`.startsWith(`${this.settings.basePath}/`);
  }

  async #authenticate(context: RequestContext): Promise<void> {
    const { request, signal } = context;
    context.principal = await authenticate(this.#options.authenticator, request, { signal });
    signal.throwIfAborted();
    request.onAuthenticated?.(context.principal);
  }

  /** Counts the request for its key, and checks the scope of the key. */
  async #authorize(context: RequestContext, { scope }: Endpoint): Promise<void> {
    const { principal } = context;
    if (!principal) return;
    if (this.#countRequest) context.quotaHeaders = await this.#countRequest(principal.keyId);
    if (scope) requireScope(principal, scope);
  }

  /** The response to OPTIONS. */
  #describe(path: string, route: Route | undefined): HttpResponse {
    if (!route && path !== '*') throw new HttpError('route_not_found');
    const headers = {
      Allow: route ? allowedMethods(route) : this.allow,
      ...UNCACHED,
      ...(route?.endpoints.has('PATCH') && ACCEPT_PATCH),
    };
    return { status: 204, headers, body: '' };
  }

  /** The headers of a response that has these of its own. */
  #headersOf(context: RequestContext, own: HeaderFields): HeaderFields {
    const { request, route, endpoint } = context;
    const declared: HeaderFields = { ...endpoint?.headers?.(context.linkBase()) };
    const links = [declared['Link'], own['Link']].filter((link) => link !== undefined);
    return {
      ...commonHeaders(context.requestId),
      ...crossOriginHeaders(this.settings.corsOrigins, request, route),
      ...declared,
      ...context.quotaHeaders,
      ...own,
      ...(links.length > 0 && { Link: links.join(', ') }),
    };
  }

  /** The address of the client, for the log. A function of the host that throws costs no client its response. */
  #addressOf(request: HttpRequest): string | undefined {
    const { clientAddress } = this.#options;
    try {
      return clientAddress ? clientAddress(request) : request.remoteAddress;
    } catch {
      return undefined;
    }
  }

  #linkBase(request: HttpRequest, route: Route | undefined): string {
    const { publicUrl, basePath } = this.settings;
    if (publicUrl !== undefined) return publicUrl;
    return route ? mountOf(request, route) + basePath : basePath;
  }
}

const asError = (thrown: unknown): Error =>
  thrown instanceof Error
    ? thrown
    : new Error('Something failed without an Error', { cause: thrown });

function methodNotAllowed(route: Route): HttpError {
  const methods = allowedMethods(route);
  return detailedError('method_not_allowed', { methods }, { Allow: methods });
}
