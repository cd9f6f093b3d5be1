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
  return routerOf(http, respond);
}

function routerOf(http: HttpInterface, send: typeof respond): Router {
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
        send(context, await http.handle(request, { route, parameters: context['params'] }));
      };
      router.register(path, [method], handle, { name: operation });
    }
  }
  return router;
}

/** A whole application: the operations, health checks, OpenAPI document and docs page, and errors for all the rest. */
export function createKoaApp(http: HttpInterface): Koa {
  const app = new Koa();
  // Mounted in another application, it leaves that one's middleware its say.
  const send = (context: Context, response: HttpResponse): void =>
    context.app === app ? write(context, response) : respond(context, response);
  app.use(routerOf(http, send).routes());
  const requestOf = koaRequests(http);
  app.use(async (context) => send(context, await http.handle(requestOf(context))));
  // Koa would print a stack for each client that disconnects.
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined) app.onerror(error);
  });
  return app;
}

/** Hands the response to Koa, so that other middleware can still change it. */
function respond({ response }: Context, { status, headers, body }: HttpResponse): void {
  response.status = status;
  // Past Koa's own `set`, which takes ten times as long. What other middleware sets or reads is the same.
  for (const [name, value] of Object.entries(headers)) response.res.setHeader(name, value);
  if (status !== 204 && status !== 304) response.body = body; // Koa adds Content-Length, for HEAD too.
}

/** Writes the response without Koa: the whole request then costs a tenth less. No other middleware can change it. */
function write(context: Context, response: HttpResponse): void {
  context.respond = false;
  writeResponse(context.req, context.res, response);
}
