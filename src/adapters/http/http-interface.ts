import type { AnimalStore } from '../../application/animal-store.js';
import type { Authenticator } from '../../application/ports/authenticator.js';
import { UnavailableError } from '../../domain/errors.js';
import { authenticate, requireScope } from './request/authorization.js';
import { crossOriginHeaders } from './answer/cross-origin.js';
import { Deadlines } from './deadline.js';
import { docsRoutes, type DocsFile } from './routes/docs-routes.js';
import { documentRoutes } from './routes/document-routes.js';
import { errorAnswer, type ErrorCode } from './answer/error-answers.js';
import { healthRoutes } from './routes/health-routes.js';
import { HttpError, clientGone } from './http-error.js';
import { silentLog, unfailing, type HttpLog } from './http-log.js';
import type { HttpAnswer, HttpRequest } from './http-message.js';
import { DEFAULT_HTTP_SETTINGS, type HttpSettings } from './http-settings.js';
import { operationRoutes } from './routes/operation-routes.js';
import type { Readiness } from './routes/readiness.js';
import { commonHeaders, requestId } from './request/request-id.js';
import {
  allowedMethods,
  endpointFor,
  type DeprecatedCall,
  type Exchange,
  type Route,
} from './routes/route.js';

/** What the HTTP interface works with. It opens nothing, so whoever opened these closes them. */
export interface HttpInterfaceOptions {
  /** What the operations call. */
  readonly store: AnimalStore;
  /** Judges the bearer token (RFC 6750) of every request but those of open routes. */
  readonly authenticator: Authenticator;
  /** Answers `/readyz`: whether the store would serve. */
  readonly readiness: Readiness;
  /** Those that differ from `DEFAULT_HTTP_SETTINGS`. They are taken as they are, not checked. */
  readonly settings?: Partial<HttpSettings> | undefined;
  /** Told of every answer, and of what was behind a 500 or above. Nobody is when left out. */
  readonly log?: HttpLog | undefined;
  /** The docs page; without it nothing is served at `/docs` and `/`. */
  readonly docs?: readonly DocsFile[] | undefined;
  /**
   * Told of every call of a deprecated operation by a good key, whatever the answer: it is the caller that has
   * to change. Has to return at once, and not throw.
   */
  readonly onDeprecatedCall?: ((call: DeprecatedCall) => void) | undefined;
}

/**
 * The HTTP interface, apart from any framework: from a request, and the route that a transport found for it,
 * to the answer. Every transport gives the same answers, because all of them are made here.
 */
export class HttpInterface {
  /** Every path that is served. A transport finds the one for a request and hands both to `answer`. */
  readonly routes: readonly Route[];
  /** All settings in force, defaults filled in. */
  readonly settings: HttpSettings;
  readonly #authenticator: Authenticator;
  readonly #log: HttpLog;
  readonly #onDeprecatedCall: ((call: DeprecatedCall) => void) | undefined;
  readonly #deadlines: Deadlines;
  #inFlight = 0;

  constructor({
    store,
    authenticator,
    readiness,
    settings,
    log = silentLog,
    docs,
    onDeprecatedCall,
  }: HttpInterfaceOptions) {
    this.#authenticator = authenticator;
    this.settings = { ...DEFAULT_HTTP_SETTINGS, ...settings };
    this.#log = unfailing(log);
    this.#onDeprecatedCall = onDeprecatedCall;
    this.#deadlines = new Deadlines(this.settings.requestDeadline);
    this.routes = [
      ...operationRoutes(store, this.settings),
      ...healthRoutes(readiness),
      ...documentRoutes(this.settings),
      ...(docs ? docsRoutes(docs, this.settings) : []),
    ];
  }

  /**
   * Answers a request. Never rejects: what goes wrong is an answer too, and is logged.
   * @param route the one whose path the request's path is, if there is one
   * @param parameters the path's parameters as sent, percent-encoding and all
   */
  async answer(
    request: HttpRequest,
    route: Route | undefined,
    parameters: Readonly<Record<string, string>>,
  ): Promise<HttpAnswer> {
    const began = performance.now();
    const id = requestId(request.header('x-request-id'));
    const exchange: Exchange = { request, parameters, deadline: this.#deadlines.start() };
    let answered = false;
    request.onGone(() => {
      if (!answered) exchange.deadline.abort(clientGone());
    });
    let answer: HttpAnswer & { readonly code?: ErrorCode };
    try {
      answer = await this.#pass(exchange, route);
    } catch (error) {
      answer = errorAnswer(error, id);
      if (answer.status >= 500) this.#log.failed(id, error);
    } finally {
      answered = true;
      exchange.deadline.stop();
    }
    const { status, code, body } = answer;
    const { method, path } = request;
    const keyId = exchange.principal?.keyId;
    this.#log.answered({
      requestId: id,
      method,
      path,
      status,
      code,
      keyId,
      milliseconds: performance.now() - began,
    });
    const crossOrigin = crossOriginHeaders(this.settings.corsOrigins, request, route);
    return {
      status,
      headers: { ...commonHeaders(id), ...crossOrigin, ...route?.headers, ...answer.headers },
      body,
    };
  }

  /** The order of the checks: OPTIONS, too busy, key, path, method, removed, scope; then the operation's own. */
  async #pass(exchange: Exchange, route: Route | undefined): Promise<HttpAnswer> {
    const { request, deadline } = exchange;
    if (route && request.method === 'OPTIONS') {
      return {
        status: 204,
        headers: { Allow: allowedMethods(route), 'Cache-Control': 'no-store' },
        body: '',
      };
    }
    const endpoint = endpointFor(route, request.method);
    if (this.#inFlight >= this.settings.maxInFlight && !endpoint?.alwaysServed) {
      throw new UnavailableError('too many requests at once');
    }
    this.#inFlight += 1;
    try {
      const needsKey = route ? !route.open : this.#isBelowBase(request.path);
      if (needsKey) {
        exchange.principal = await deadline.within(authenticate(this.#authenticator, request, deadline));
      }
      if (route === undefined) throw new HttpError('route_not_found', 'Nothing is served at this path.');
      if (endpoint === undefined) throw methodNotAllowed(route);
      if (endpoint.deprecated && exchange.principal) {
        this.#onDeprecatedCall?.({ ...endpoint.deprecated, keyId: exchange.principal.keyId });
      }
      if (endpoint.removed !== undefined) throw new HttpError('operation_removed', endpoint.removed);
      if (endpoint.scope && exchange.principal) requireScope(exchange.principal, endpoint.scope);
      return await endpoint.answer(exchange);
    } finally {
      this.#inFlight -= 1;
    }
  }

  #isBelowBase(path: string): boolean {
    const { basePath } = this.settings;
    return path === basePath || path.startsWith(`${basePath}/`);
  }
}

function methodNotAllowed(route: Route): HttpError {
  const allow = allowedMethods(route);
  return new HttpError('method_not_allowed', `This path answers to ${allow} only.`, { Allow: allow });
}
