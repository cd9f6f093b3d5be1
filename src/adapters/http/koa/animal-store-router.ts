import { Router, type RouterMiddleware } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Principal } from '../../../application/ports/authenticator.js';
import { clientGone, payloadTooLarge } from '../error-responses.js';
import type { HttpInterface } from '../http-interface.js';
import { splitRequestTarget, type HttpResponse } from '../http-message.js';
import { NodeRequest, bytesIn, contentOf } from '../node/node-request.js';
import { OPERATIONS, type Operation, type OperationId } from '../operations.js';

/** What the router adds to `ctx.state`. */
export interface AnimalStoreState {
  /** The operation that the request is for. */
  readonly operation?: OperationId;
  /** Who is calling, once the API key turned out to be valid. */
  readonly principal?: Principal;
}

/**
 * A router with the operations of the interface, by method, path and name, to mount in your application. It leaves all
 * other paths and methods to the next middleware, but OPTIONS is its own where `corsOrigins` is set.
 *
 * Faults (responses of 500 and above) are emitted as `error` by your application, as Koa does with its own. Your
 * middleware may still change their responses, like all others.
 */
export const animalStoreRouter = (http: HttpInterface): Router<AnimalStoreState> =>
  routerOf(http, (context, answer) => {
    if (answer.fault) context.app.emit('error', answer.fault, context);
    respond(context, answer);
  });

function routerOf(http: HttpInterface, answerBy: typeof respond): Router<AnimalStoreState> {
  const router = new Router<AnimalStoreState>({ strict: true, sensitive: true });
  const parse = bodyParserOf(http);
  for (const route of http.routes) {
    if (route.open) continue;
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    const handling =
      (operation?: OperationId): RouterMiddleware<AnimalStoreState> =>
      async (context, next) => {
        const request = new KoaRequest(context, parse);
        // Koa decodes and resolves some targets, which the interface takes as sent: their paths differ.
        if (request.path !== context.path) return next();
        Object.assign(context.state, { operation });
        answerBy(context, await http.handle(request, { route, parameters: context.params }));
      };
    for (const [method, { operation }] of route.endpoints) {
      const verb = method.toLowerCase() as Lowercase<Operation['method']>;
      if (operation) router[verb](operation, path, handling(operation));
    }
    if (http.settings.corsOrigins.length > 0) router.options(path, handling()); // browsers ask before they send a key
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
function respond(context: Context, answer: HttpResponse): void {
  const { res, response } = context;
  if (res.headersSent) {
    context.respond = false; // other middleware has begun a response
    return;
  }
  response.status = answer.status;
  // Koa's own `set` takes ten times as long. Other middleware sees the same headers.
  for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value);
  if (answer.status !== 204 && answer.status !== 304) response.body = contentOf(answer.body); // Koa adds Content-Length, for HEAD too.
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
    const { request } = this.#context;
    try {
      // The parser has one limit, and knows encodings by their case.
      if (limit > 0 && this.header('content-encoding') === undefined)
        await this.#parse(this.#context, async () => {});
    } catch (error) {
      const { type } = error as { readonly type?: unknown };
      if (type === 'entity.too.large') throw payloadTooLarge(limit);
      throw type === 'request.aborted' ? clientGone() : error;
    }
    const read = this.keptBody ?? (await super.receive(limit));
    request.rawBody = read;
    return read;
  }
}

/** koa-bodyparser, told to keep the bytes: the interface decodes and parses them strictly. */
function bodyParserOf({ settings: { bodyLimit } }: HttpInterface): Middleware {
  const options = {
    enableTypes: ['text'],
    extendTypes: { text: OPERATIONS.changeStatus.body.types },
    textLimit: bodyLimit,
    encoding: null, // its types do not know that
  };
  return bodyParser(options as unknown as bodyParser.Options);
}
