import type { AnimalStore } from '../../application/animal-store.js';
import type { Authenticator } from '../../application/ports/authenticator.js';
import { isError } from '../../domain/errors.js';
import { BusyError, UNBOUNDED, type Admission } from './admission.js';
import { docsRoutes, documentRoute, type DocsFile } from './docs-routes.js';
import { messageOf } from './error-codes.js';
import { HttpError, clientDisconnected, errorResponse } from './error-responses.js';
import { healthRoutes, type Readiness } from './health.js';
import { report, type HttpLog } from './http-log.js';
import { commonHeaders, type HttpRequest, type HttpResponse } from './http-message.js';
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
  /** Settings that differ from `DEFAULT_HTTP_SETTINGS`. They are not checked. */
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
  readonly #count: ReturnType<typeof requestCounter> | undefined;

  constructor(options: HttpInterfaceOptions) {
    const settings = completeSettings({
      ...options.settings,
      rateLimit: options.rateLimiter?.limit,
      idempotencyKeys: options.animalStore.keepsIdempotencyKeys ?? true,
    });
    this.settings = settings;
    this.#options = options;
    this.routes = [
      ...operationRoutes(options.animalStore, settings),
      ...healthRoutes(options.readiness),
      documentRoute(settings),
      ...(options.docs ? docsRoutes(options.docs, settings) : []),
    ];
    this.#findRoute = createRouteFinder(this.routes);
    this.#count = options.rateLimiter && requestCounter(options.rateLimiter);
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
    const began = performance.now();
    const { route, parameters = {} } = found ?? {};
    const endpoint = route?.endpoints.get(request.method === 'HEAD' ? 'GET' : request.method);
    const id = requestId(request.header('x-request-id'));
    const linkBase = (): string => this.#linkBase(request, route);
    const timer = new RequestTimer(this.settings.requestDeadline);
    const { signal } = timer;
    const context: RequestContext = {
      request,
      parameters,
      timer,
      signal,
      linkBase,
      permit: UNBOUNDED,
    };
    request.onGone(() => timer.abort(clientDisconnected));
    const work = this.#respond(context, route, endpoint);
    const { response, error } = await timer
      .limit(work)
      .then((success) => ({ response: success, error: undefined }))
      .catch((thrown: unknown) => ({ response: errorResponse(thrown, id), error: thrown }));
    timer.stop();
    context.permit.end(response.body.length, signal.aborted ? work : undefined);
    const { status, body } = response;
    const fault = status >= 500 ? asError(error) : undefined;
    report(this.#options.log, request, response, {
      requestId: id,
      operation: endpoint?.operation,
      sunset: endpoint?.sunset,
      isProbe: endpoint?.alwaysServed,
      clientAddress: this.#addressOf(request),
      keyId: context.principal?.keyId,
      keyFault: error instanceof InvalidKeyError ? error.fault : undefined,
      error: fault,
      milliseconds: performance.now() - began,
    });
    const ofEndpoint = endpoint?.headers?.(linkBase()) ?? {};
    const links = [ofEndpoint['Link'], response.headers['Link']].filter((link) => link);
    const headers = {
      ...commonHeaders(id),
      ...crossOriginHeaders(this.settings.corsOrigins, request, route),
      ...ofEndpoint,
      ...context.quotaHeaders,
      ...response.headers,
      ...(links.length > 0 && { Link: links.join(', ') }),
    };
    // To say that the service is not ready, or busy, is no fault of a health check, or of the admission.
    const isFault = fault !== undefined && !endpoint?.alwaysServed && !(fault instanceof BusyError);
    return isFault ? { status, headers, body, fault } : { status, headers, body };
  }

  /**
   * The order of the checks: OPTIONS, admission, key, admission of its caller, path, method, removed, quota, scope;
   * then the operation's own.
   */
  async #respond(
    context: RequestContext,
    route?: Route,
    endpoint?: Endpoint,
  ): Promise<HttpResponse> {
    const { request, signal } = context;
    const { admission, authenticator } = this.#options;
    if (request.method === 'OPTIONS') return this.#describe(request.path, route);
    if (admission && !endpoint?.alwaysServed) context.permit = admission.admit(request);
    if (route ? !route.open : `${request.path}/`.startsWith(`${this.settings.basePath}/`)) {
      context.principal = await authenticate(authenticator, request, { signal });
      signal.throwIfAborted();
      request.onAuthenticated?.(context.principal);
    }
    const turn = context.permit.admitCaller(context.principal?.keyId ?? '');
    if (turn) await turn;
    if (route === undefined) throw new HttpError('route_not_found');
    if (endpoint === undefined) throw methodNotAllowed(route);
    const { removed, scope } = endpoint;
    const { principal } = context;
    if (removed !== undefined) {
      const replacement = context.linkBase() + removed;
      throw new HttpError('operation_removed', messageOf('operation_removed', { replacement }));
    }
    if (this.#count && principal) context.quotaHeaders = await this.#count(principal.keyId);
    if (scope && principal) requireScope(principal, scope);
    return endpoint.handle(context);
  }

  /** The response to OPTIONS. */
  #describe(path: string, route: Route | undefined): HttpResponse {
    if (route === undefined && path !== '*') throw new HttpError('route_not_found');
    const headers = {
      Allow: route ? allowedMethods(route) : this.allow,
      'Cache-Control': 'no-store',
      ...(route?.endpoints.has('PATCH') && ACCEPT_PATCH),
    };
    return { status: 204, headers, body: '' };
  }

  /** A host's function that throws costs no client its response. */
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
    return publicUrl ?? (route && !route.open ? mountOf(request, route) : '') + basePath;
  }
}

const asError = (thrown: unknown): Error =>
  isError(thrown) ? thrown : new Error('Something failed without an Error', { cause: thrown });

function methodNotAllowed(route: Route): HttpError {
  const methods = allowedMethods(route);
  const message = messageOf('method_not_allowed', { methods });
  return new HttpError('method_not_allowed', message, { Allow: methods });
}
