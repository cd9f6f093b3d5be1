import type { AnimalStore } from '../../application/animal-store.js';
import type { Authenticator } from '../../application/ports/authenticator.js';
import { Capacity, Place } from './capacity.js';
import { Deadline } from './deadline.js';
import { docsRoutes, documentRoute, type DocsFile } from './docs-routes.js';
import { BusyError, HttpError, clientGone, errorResponse, type ErrorResponse } from './error-responses.js';
import { FailedKeys } from './failed-keys.js';
import { healthRoutes, type Readiness } from './health.js';
import type { HttpLog } from './http-log.js';
import type { HttpRequest, HttpResponse } from './http-message.js';
import { completeSettings, type HttpSettings } from './http-settings.js';
import { operationRoutes } from './operation-handlers.js';
import type { OperationId } from './operations.js';
import { countRequest, type RateLimiter } from './rate-limiter.js';
import { authenticate, requestId, requireScope, type KeyFault } from './request-headers.js';
import { commonHeaders, crossOriginHeaders } from './response-headers.js';
import {
  allowedMethods,
  createRouteFinder,
  endpointFor,
  type FoundRoute,
  type RequestContext,
  type Route,
} from './routes.js';
import { Turns, type Waiting } from './turns.js';

/** How many requests are started in one turn of the event loop. */
const STARTED_PER_TURN = 64;

/** To send so many characters costs about as much as the rest of a request. */
const SMALL = 4 * 1024;

// One for all: the stack of each would cost more than the rest of the response.
const TOO_BUSY = new BusyError('too busy to answer soon');

const byteLength: (text: string) => number =
  'Buffer' in globalThis
    ? (text) => globalThis['Buffer'].byteLength(text)
    : (text) => new TextEncoder().encode(text).length;

/** What the HTTP interface works with. It opens nothing: whoever opened these closes them. */
export interface HttpInterfaceOptions {
  /** Does what the operations ask for. */
  readonly animalStore: AnimalStore;
  /** Judges the bearer token (RFC 6750) of every request, except on open routes. */
  readonly authenticator: Authenticator;
  /** Limits the requests of each API key. Omit for no limit. */
  readonly rateLimiter?: RateLimiter | undefined;
  /** Answers `/readyz`. */
  readonly readiness: Readiness;
  /**
   * Tells the address of a client: invalid keys are counted by it, and the log has it. Default: that of the connection,
   * which is a proxy's if there is one.
   */
  readonly clientAddress?: ((request: HttpRequest) => string | undefined) | undefined;
  /** Settings that differ from `DEFAULT_HTTP_SETTINGS`. They are not checked. */
  readonly settings?: Partial<HttpSettings> | undefined;
  /** Called for every response. Omit to log nothing. */
  readonly log?: HttpLog | undefined;
  /** The files of the docs page. Omit to serve nothing at `/docs` and `/`. */
  readonly docs?: readonly DocsFile[] | undefined;
  /**
   * Called for every request for a deprecated operation with a valid key, whatever the response. Must return at once,
   * and not throw.
   */
  readonly onDeprecatedCall?: ((call: DeprecatedCall) => void) | undefined;
}

/** A request for a deprecated operation with a valid key. */
export interface DeprecatedCall {
  /** The operation's id in the interface: `getPet`. */
  readonly operationId: OperationId;
  /** Identifies the key without revealing it. */
  readonly keyId: string;
  /** When the operation will be removed. */
  readonly sunset: Date;
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
  readonly #capacity: Capacity;
  readonly #failedKeys = new FailedKeys();
  readonly #clientAddress: NonNullable<HttpInterfaceOptions['clientAddress']>;
  readonly #turns: Turns;

  constructor(options: HttpInterfaceOptions) {
    const rateLimit = options.rateLimiter?.limit;
    const settings = completeSettings({ ...options.settings, rateLimit });
    this.settings = settings;
    this.#capacity = new Capacity(settings.maxInFlight);
    this.#turns = new Turns(STARTED_PER_TURN, { maxWait: settings.maxWait, gathers: true });
    this.#options = options;
    this.#clientAddress = options.clientAddress ?? ((request) => request.remoteAddress);
    this.routes = [
      ...operationRoutes(options.animalStore, settings),
      ...healthRoutes(options.readiness),
      documentRoute(settings),
      ...(options.docs ? docsRoutes(options.docs, settings) : []),
    ];
    this.#findRoute = createRouteFinder(this.routes);
  }

  /** How many requests are worked on now. */
  get inFlight(): number {
    return this.#capacity.working.taken;
  }

  /** Call it for every accepted connection. While more keep coming, half of the time goes to accepting them. */
  accepted(): void {
    this.#turns.accepted();
  }

  /**
   * Handles a request. Never rejects: an error becomes a response, and is logged.
   * @param found the route that a router has matched. Omit it to find the route by the path
   */
  async handle(request: HttpRequest, found = this.#findRoute(request.path)): Promise<HttpResponse> {
    const began = performance.now();
    const { route, parameters = {} } = found ?? {};
    const id = requestId(request.header('x-request-id'));
    const deadline = new Deadline(this.settings.requestDeadline);
    const place = new Place(this.#capacity);
    const context: RequestContext = { request, parameters, deadline, place };
    request.onGone(() => {
      deadline.abort(clientGone);
      place.leave();
    });
    let response: HttpResponse & Partial<ErrorResponse>;
    let fault: unknown;
    try {
      response = await deadline.within(this.#respond(context, route));
    } catch (error) {
      fault = error;
      response = errorResponse(error, id);
    }
    deadline.stop();
    this.#turns.charge(1 + response.body.length / SMALL);
    // A client with a key that does not read its response keeps the place. One without a key cannot hold any.
    if (!context.principal || !request.seesSent) place.leave();
    const { status, code, body } = response;
    try {
      const endpoint = endpointFor(route, request.method);
      this.#options.log?.responded({
        requestId: id,
        method: request.method,
        path: request.path,
        operation: endpoint?.operation,
        isProbe: endpoint?.alwaysServed,
        clientAddress: this.#clientAddress(request),
        userAgent: request.header('user-agent'),
        traceparent: request.header('traceparent'),
        keyId: context.principal?.keyId,
        keyFault: context.keyFault,
        status,
        code,
        error: status >= 500 ? fault : undefined,
        bytes: byteLength(body),
        milliseconds: performance.now() - began,
      });
    } catch {
      // A failing log costs no client its response.
    }
    const crossOrigin = crossOriginHeaders(this.settings.corsOrigins, request, route);
    const headers = {
      ...commonHeaders(id),
      ...crossOrigin,
      ...route?.headers,
      ...context.quotaHeaders,
      ...response.headers,
    };
    return { status, headers, body };
  }

  /** The order of the checks: OPTIONS, capacity, key, path, method, removed, quota, scope, turn; then the operation's own. */
  async #respond(context: RequestContext, route: Route | undefined): Promise<HttpResponse> {
    const { request, deadline, place } = context;
    const { authenticator, rateLimiter } = this.#options;
    if (request.method === 'OPTIONS') {
      if (route === undefined) throw routeNotFound();
      const headers = { Allow: allowedMethods(route), 'Cache-Control': 'no-store' };
      return { status: 204, headers, body: '' };
    }
    const endpoint = endpointFor(route, request.method);
    if (!endpoint?.alwaysServed) place.enter();
    if (route ? !route.open : this.#isBelowBasePath(request.path)) {
      const onInvalid = (fault: KeyFault): void => {
        context.keyFault = fault;
        this.#failedKeys.add(this.#clientAddress(request));
      };
      context.principal = await authenticate(authenticator, request, onInvalid, deadline);
      deadline.signal.throwIfAborted();
      request.onAuthenticated?.(context.principal);
      place.passTo(context.principal.keyId);
    }
    if (route === undefined) throw routeNotFound();
    if (endpoint === undefined) throw methodNotAllowed(route);
    const { operation, sunset, removed, scope } = endpoint;
    const { principal } = context;
    if (operation && sunset && principal) {
      this.#options.onDeprecatedCall?.({ operationId: operation, keyId: principal.keyId, sunset });
    }
    if (removed !== undefined) throw new HttpError('operation_removed', removed);
    if (rateLimiter && principal) context.quotaHeaders = await countRequest(rateLimiter, principal.keyId);
    if (scope && principal) requireScope(principal, scope);
    // Requests without a key are one caller.
    if (!endpoint.alwaysServed && !this.#turns.hasRoom())
      await this.#waitForTurn(principal?.keyId ?? '', context);
    return endpoint.handle(context);
  }

  async #waitForTurn(caller: string, { deadline: { signal }, place }: RequestContext): Promise<void> {
    const turn = new Promise<boolean>((resolve) => {
      this.#turns.defer(new WaitingRequest(caller, signal, resolve));
    });
    const isLate = await place.whileWaiting(turn);
    if (isLate) throw TOO_BUSY;
  }

  #isBelowBasePath(path: string): boolean {
    const { basePath } = this.settings;
    return path === basePath || path.startsWith(`${basePath}/`);
  }
}

/** A request that waits for its turn. A class, because an object with a getter of its own is slow to make. */
class WaitingRequest implements Waiting {
  readonly caller: string;
  isDeferred = false;
  readonly #signal: AbortSignal;
  readonly #resolve: (isLate: boolean) => void;

  constructor(caller: string, signal: AbortSignal, resolve: (isLate: boolean) => void) {
    this.caller = caller;
    this.#signal = signal;
    this.#resolve = resolve;
  }

  get isGone(): boolean {
    return this.#signal.aborted;
  }

  start(isLate: boolean): boolean {
    this.#resolve(isLate);
    return !isLate;
  }
}

const routeNotFound = (): HttpError => new HttpError('route_not_found', 'Nothing is served at this path.');

function methodNotAllowed(route: Route): HttpError {
  const allow = allowedMethods(route);
  return new HttpError('method_not_allowed', `This path answers to ${allow} only.`, { Allow: allow });
}
