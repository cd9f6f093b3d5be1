import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import type { Principal } from '../../../application/ports/authenticator.js';
import type { HttpInterface } from '../http-interface.js';
import type { HttpResponse } from '../http-message.js';
import { writeResponse } from '../node/node-request.js';
import type { OperationId } from '../operations.js';
import { koaRequests } from './koa-request.js';

/** What the router adds to `ctx.state`. */
export interface AnimalStoreState {
  /** The operation that the request is for. */
  readonly operation: OperationId;
  /** Who is calling, once the API key turned out to be valid. */
  readonly principal?: Principal;
}

/**
 * A router with the operations of the interface, by method, path and name, to mount in your application. It leaves all
 * other paths and methods to the next middleware. `ctx.state` becomes an `AnimalStoreState`.
 */
export function animalStoreRouter(http: HttpInterface): Router {
  const router = new Router({ strict: true, sensitive: true });
  const requestOf = koaRequests(http);
  for (const route of http.routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    for (const [method, { operation }] of route.endpoints) {
      if (operation === undefined) continue;
      const handle: Middleware = async (context, next) => {
        const request = requestOf(context);
        // Koa decodes and resolves some targets that the interface takes as they are: those have another path.
        if (request.path !== context.path) return next();
        context.state['operation'] = operation;
        respond(context, await http.handle(request, { route, parameters: context['params'] }));
      };
      router.register(path, [method], handle, { name: operation });
    }
  }
  return router;
}

/** A whole application: the operations, health checks, OpenAPI document and docs page, and errors for all the rest. */
export function createKoaApp(http: HttpInterface): Koa {
  const app = new AnimalStoreApp();
  const requestOf = koaRequests(http);
  app.use(animalStoreRouter(http).routes());
  app.use(async (context) => respond(context, await http.handle(requestOf(context))));
  // Koa would print a stack for each client that disconnects.
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined) app.onerror(error);
  });
  return app;
}

/** Koa without what it does after each response for other middleware, while there is none: that is 5 % of a request. */
class AnimalStoreApp extends Koa {
  override callback(): ReturnType<Koa['callback']> {
    const [operations, others, ...more] = this.middleware;
    if (!operations || !others || more.length > 0) return super.callback();
    return async (request, response) => {
      const context = this.createContext(request as IncomingMessage, response as ServerResponse);
      context.respond = false;
      try {
        await operations(context, async () => others(context, async () => {}));
      } catch (error) {
        context.onerror(error as Error);
      }
    };
  }
}

/** Hands the response to Koa, so that other middleware can still change it, or writes it if Koa is told to leave that. */
function respond(context: Context, answer: HttpResponse): void {
  const { req, res, response } = context;
  if (context.respond === false) return writeResponse(req, res, answer);
  response.status = answer.status;
  // Past Koa's own `set`, which takes ten times as long. What other middleware sets or reads is the same.
  for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value);
  if (answer.status !== 204 && answer.status !== 304) response.body = answer.body; // Koa adds Content-Length, for HEAD too.
}
