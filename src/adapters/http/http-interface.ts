import type { AnimalStore } from '../../application/animal-store.js';
import { unlessAborted } from '../../application/call-options.js';
import type { Authenticator, Scope } from '../../application/ports/authenticator.js';
import { UNBOUNDED, type Admission } from './admission.js';
import { InvalidKeyError, authenticate, requireScope } from './authentication.js';
import { crossOriginHeaders } from './cross-origin.js';
import { docsRoutes, type DocsFile } from './docs-page/docs-routes.js';
import { HttpError, clientDisconnected, errorResponse } from './error-responses.js';
import { healthRoutes, type Readiness } from './health.js';
import { logResponse, type HttpLog } from './http-log.js';
import {
  UNCACHED,
  commonHeaders,
  safeRequestId,
  type HttpRequest,
  type HttpResponse,
} from './http-message.js';
import { completeSettings, type GivenHttpSettings, type HttpSettings } from './http-settings.js';
import { openApiRoute } from './open-api/open-api-route.js';
import { operationRoutes } from './operations.js';
import { ACCEPT_PATCH } from './request-body.js';
import { RequestTimer } from './request-timer.js';
import {
  allowedMethods,
  createRouteFinder,
  type FoundRoute,
  type RequestContext,
  type Route,
} from './routes.js';

/** The parts of the HTTP interface. The caller closes them. */
export interface HttpInterfaceOptions {
  readonly animalStore: AnimalStore;
  /** Checks the bearer token (RFC 6750) of every request, except on open routes. */
  readonly authenticator: Authenticator;
  /** Answers `/readyz`. */
  readonly readiness: Readiness;
  /** Bounds the requests in progress. Omit if the host bounds them. */
  readonly admission?: Admission | undefined;
  /** Settings that differ from their defaults. */
  readonly settings?: GivenHttpSettings | undefined;
  /** Called for every response. Omit to log nothing. */
  readonly log?: HttpLog | undefined;
  /** The files of the docs page. Omit to serve nothing at `/docs` and `/`. */
  readonly docs?: readonly DocsFile[] | undefined;
}

/**
 * The HTTP interface, without any framework: handles the requests that transports receive. It checks a request,
 * calls the use case, and makes a response of its result or error.
 */
export class HttpInterface {
  /** Every path that is served. */
  readonly routes: readonly Route[];
  /** The settings, completed by their defaults. */
  readonly settings: HttpSettings;
  readonly #options: HttpInterfaceOptions;
  readonly #findRoute: (path: string) => FoundRoute | undefined;

  /** @throws {TypeError} a setting is not valid; the message names every one */
  constructor(options: HttpInterfaceOptions) {
    const settings = completeSettings(options.settings);
    this.settings = settings;
    this.#options = options;
    this.routes = [
      ...operationRoutes(options.animalStore, settings),
      ...healthRoutes(options.readiness),
      openApiRoute(settings),
      ...(options.docs ? docsRoutes(options.docs, settings) : []),
    ];
    this.#findRoute = createRouteFinder(this.routes);
  }

  /**
   * Handles a request. Always resolves: an error becomes a response, and is logged. While a body arrives, the transport
   * limits the time; otherwise the deadline does.
   * @param found the route that a router has matched. Omit it to find the route by the path
   */
  async handle(request: HttpRequest, found = this.#findRoute(request.path)): Promise<HttpResponse> {
    const context = this.#contextOf(request, found);
    const { endpoint } = context;
    let response: HttpResponse;
    let error: unknown;
    try {
      response = await this.#inTime(context, this.#respond(context, found?.route));
    } catch (thrown) {
      error = thrown;
      response = errorResponse(error, context.requestId);
    }
    this.#log(context, response, error);
    const headers = {
      ...commonHeaders(context.requestId),
      ...crossOriginHeaders(this.settings.corsOrigins, request, found?.route),
      ...endpoint?.headers,
      ...response.headers,
    };
    // A health check that reports "not ready" is no failure.
    const failure = endpoint?.isHealthCheck ? undefined : response.failure;
    return { ...response, headers, failure };
  }

  /**
   * Runs `work`, for a route of the host, if the API key has the scope. The request holds a place, and the deadline
   * applies. Resolves to `undefined` when the work is done, or to the error response to send. Rejects if the work does.
   * Does not log.
   */
  async guard(
    request: HttpRequest,
    scope: Scope,
    work: (requestId: string) => Promise<unknown>,
  ): Promise<HttpResponse | undefined> {
    const context = this.#contextOf(request);
    const guarded = async () => {
      await this.#authenticateAndAdmit(context, true);
      requireScope(context.principal, scope);
      // Settled, so that the catch below gets our errors alone. The host's is thrown after it.
      const [outcome] = await Promise.allSettled([work(context.requestId)]);
      return outcome;
    };
    let outcome: PromiseSettledResult<unknown>;
    try {
      outcome = await this.#inTime(context, guarded());
    } catch (error) {
      return errorResponse(error, context.requestId);
    }
    if (outcome.status === 'rejected') throw outcome.reason;
    return undefined;
  }

  /**
   * Checks in this order: OPTIONS, the permit, the key, the caller's turn, path, method, scope; then the operation's
   * own. Only the order of the first three is promised.
   */
  async #respond(context: RequestContext, route: Route | undefined): Promise<HttpResponse> {
    const { request, endpoint } = context;
    if (request.method === 'OPTIONS') {
      if (!route) throw this.#routeNotFound();
      const acceptPatch = route.endpoints.has('PATCH') && ACCEPT_PATCH;
      const headers = { Allow: allowedMethods(route), ...acceptPatch, ...UNCACHED };
      return { status: 204, headers, body: '' };
    }
    // Below the base path, an unknown path needs a key, too.
    const needsKey = route
      ? !route.open
      : `${request.path}/`.startsWith(`${this.settings.basePath}/`);
    await this.#authenticateAndAdmit(context, needsKey);
    if (!route) throw this.#routeNotFound();
    if (!endpoint) throw methodNotAllowed(route);
    if (endpoint.scope) requireScope(context.principal, endpoint.scope);
    return endpoint.handle(context);
  }

  #contextOf(request: HttpRequest, found?: FoundRoute): RequestContext {
    const timer = new RequestTimer(this.settings.requestDeadline);
    request.onDisconnect(() => timer.abort(clientDisconnected));
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    return {
      request,
      requestId: safeRequestId(request.header('x-request-id')),
      began: performance.now(),
      endpoint: found?.route.endpoints.get(method),
      petId: found?.petId,
      timer,
      signal: timer.signal,
      permit: UNBOUNDED,
    };
  }

  /** Settles as the work for a request does, but at the deadline at the latest. */
  async #inTime<T>(context: RequestContext, work: Promise<T>): Promise<T> {
    const { timer, signal } = context;
    try {
      return await unlessAborted(work, signal);
    } finally {
      timer.stop();
      // After an abort the work may continue, and keeps its place until it settles.
      context.permit.end(signal.aborted ? work : undefined);
    }
  }

  /** Gets a permit, then the key's owner, if a key is needed; then waits for the caller's turn. */
  async #authenticateAndAdmit(context: RequestContext, needsKey: boolean): Promise<void> {
    const { request, endpoint, signal } = context;
    const { admission, authenticator } = this.#options;
    if (admission && !endpoint?.isHealthCheck) context.permit = admission.admit(request);
    if (needsKey) {
      const principal = await authenticate(authenticator, request, { signal });
      signal.throwIfAborted(); // the authenticator may ignore the signal
      context.principal = principal;
      request.onAuthenticated?.(principal);
    }
    await context.permit.admitCaller(context.principal?.keyId ?? '');
  }

  #routeNotFound(): HttpError {
    const { basePath } = this.settings;
    return new HttpError(
      'route_not_found',
      `Nothing is served at this path: the operations are below ${basePath}, their description ` +
        'at /openapi.json.',
    );
  }

  #log(context: RequestContext, response: HttpResponse, error: unknown): void {
    const { request, endpoint, principal } = context;
    const refused = error instanceof InvalidKeyError ? error : undefined;
    logResponse(this.#options.log, request, response, {
      requestId: context.requestId,
      operation: endpoint?.operation,
      isHealthCheck: endpoint?.isHealthCheck,
      clientAddress: request.remoteAddress,
      keyId: principal?.keyId ?? refused?.keyId,
      keyFault: refused?.reason,
      error,
      milliseconds: performance.now() - context.began,
    });
  }
}

function methodNotAllowed(route: Route): HttpError {
  const Allow = allowedMethods(route);
  return new HttpError('method_not_allowed', `This path supports ${Allow} only.`, { Allow });
}
