import { Router } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Principal } from '../../../application/ports/authenticator.js';
import { clientGone, payloadTooLarge } from '../error-responses.js';
import type { HttpInterface } from '../http-interface.js';
import { splitRequestTarget, type HttpResponse } from '../http-message.js';
import { NodeRequest, bytesIn, contentOf, writeResponse } from '../node/node-request.js';
import type { OperationId } from '../operations.js';

/** What the router adds to `ctx.state`. */
export interface AnimalStoreState {
  /** The operation that the request is for. */
  readonly operation: OperationId;
  /** Who is calling, once the API key turned out to be valid. */
  readonly principal?: Principal;
}

/**
 * A router with the operations of the interface, by method, path and name, to mount in your application. It leaves all
 * other paths and methods to the next middleware, but OPTIONS is its own where `corsOrigins` is set. `ctx.state` becomes
 * an `AnimalStoreState`.
 *
 * It throws faults (responses of 500 and above) for your middleware to handle. Without a handler your application emits
 * `error`, as in Koa, and the client gets the interface's own response.
 */
export const animalStoreRouter = (http: HttpInterface): Router =>
  routerOf(http, (context, answer) =>
    answer.fault ? throwFault(context, answer, answer.fault) : respond(context, answer),
  );

function routerOf(http: HttpInterface, answerBy: typeof respond): Router {
  const router = new Router({ strict: true, sensitive: true });
  const parse = bodyParserOf(http);
  for (const route of http.routes) {
    if (route.open) continue;
    const register = (method: string, operation?: OperationId): void => {
      const handle: Middleware = async (context, next) => {
        const request = new KoaRequest(context, parse);
        // Koa decodes and resolves some targets, which the interface takes as sent: their paths differ.
        if (request.path !== context.path) return next();
        if (operation) context.state['operation'] = operation;
        answerBy(context, await http.handle(request, { route, parameters: context['params'] }));
      };
      const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
      router.register(path, [method], handle, operation ? { name: operation } : {});
    };
    for (const [method, { operation }] of route.endpoints) register(method, operation);
    if (http.settings.corsOrigins.length > 0) register('OPTIONS'); // browsers ask before they send a key
  }
  return router;
}

/**
 * A whole application: the operations, health checks, OpenAPI document and docs page, and errors for all the rest. Its
 * faults are in the log of `http`. Middleware that is used after it never runs: mount it in an application of yours.
 */
export function createKoaApp(http: HttpInterface): Koa {
  const app = new Koa();
  const parse = bodyParserOf(http);
  app.use(routerOf(http, respond).routes()); // traces name requests by its routes
  app.use(async (context) => respond(context, await http.handle(new KoaRequest(context, parse))));
  // Koa would print a stack for each client that disconnects.
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined) app.onerror(error);
  });
  return app;
}

/** Hands the response to Koa, so that other middleware can still change it. */
function respond({ res, response }: Context, answer: HttpResponse): void {
  response.status = answer.status;
  // Koa's own `set` takes ten times as long. Other middleware sees the same headers.
  for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value);
  if (answer.status !== 204 && answer.status !== 304) response.body = contentOf(answer.body); // Koa adds Content-Length, for HEAD too.
}

/** Throws a fault through the application. If it gets to Koa, its response is the interface's, not Koa's. */
function throwFault(context: Context, answer: HttpResponse, fault: Error): never {
  const { app, req, res } = context;
  const usual = context.onerror.bind(context);
  const onerror = (error: Error): void => {
    if (error !== fault) return usual(error);
    app.emit('error', fault, context);
    if (!res.headersSent && context.writable) writeResponse(req, res, answer);
  };
  Object.assign(context, { onerror });
  context.status = answer.status; // for middleware that catches it and sets none
  throw fault;
}

/** A request of Koa. koa-bodyparser reads its body, unless other middleware has. */
class KoaRequest extends NodeRequest {
  readonly #context: Context;
  readonly #parse: Middleware;

  constructor(context: Context, parse: Middleware) {
    super(context.req, context.res);
    this.#context = context;
    this.#parse = parse;
  }

  override get originalPath(): string | undefined {
    const { originalUrl, req } = this.#context;
    // An outer host such as Express may have changed the target before Koa.
    return (
      super.originalPath ??
      (originalUrl === req.url ? undefined : splitRequestTarget(originalUrl).path)
    );
  }

  override onAuthenticated(principal: Principal): void {
    super.onAuthenticated(principal);
    this.#context.state['principal'] = principal;
  }

  protected override get keptBody(): Uint8Array | undefined {
    return bytesIn(this.#context.request) ?? super.keptBody;
  }

  protected override async receive(limit: number): Promise<Uint8Array> {
    if (limit === 0) return super.receive(limit); // the parser has one limit
    const { req, request } = this.#context;
    // In the request's own context the parser would skip what one before has skipped, and bodies without a type.
    const own = { req, request: { is: () => 'text', rawBody: undefined } };
    if (req.headers['content-encoding'] !== undefined) req.headers['content-encoding'] = 'identity';
    try {
      await this.#parse(own as unknown as Context, async () => {});
    } catch (error) {
      const { type } = error as { readonly type?: unknown };
      if (type === 'entity.too.large') throw payloadTooLarge(limit);
      throw type === 'request.aborted' ? clientGone() : error;
    }
    request.rawBody = own.request.rawBody;
    return own.request.rawBody ?? new Uint8Array();
  }
}

/** The parser that reads and limits bodies. The interface decodes and parses them strictly. */
function bodyParserOf({ settings: { bodyLimit } }: HttpInterface): Middleware {
  const options = { enableTypes: ['text'], textLimit: bodyLimit, encoding: null }; // null gives bytes
  return bodyParser(options as unknown as bodyParser.Options); // its types do not know that
}
