import { Router } from '@koa/router';
import type Koa from 'koa';
import type { Middleware } from 'koa';
import type { Principal } from '../../../application/ports/authenticator.js';
import type { HttpInterface } from '../http-interface.js';
import { PET_ID, type Route } from '../routes.js';
import { KoaRequest } from './koa-request.js';
import { StandaloneApp, sendResponse } from './koa-response.js';

/** What the router and `requireApiKey` add to `ctx.state`. */
export interface AnimalStoreState {
  /** The operation that the request is for. Routes of your own have none. */
  readonly operation?: string;
  /** Who is calling, once the API key turned out to be valid. */
  readonly principal?: Principal;
}

/**
 * A router with the operations of the interface, each with its method, path and name, to mount in your application. It
 * leaves all other paths and methods to the next middleware. With `corsOrigins` it also answers OPTIONS.
 *
 * Your application emits each `HttpResponse.failure` as `error`, as Koa does with its own. Your middleware may still
 * change these responses, like all others.
 */
export function animalStoreRouter(http: HttpInterface): Router<AnimalStoreState> {
  const router = new Router<AnimalStoreState>({ strict: true, sensitive: true });
  for (const route of http.routes) {
    if (route.open) continue;
    const path = route.path.replace(PET_ID, ':petId');
    for (const [method, { operation }] of route.endpoints)
      router.register(path, [method], handler(http, route, operation), { name: operation ?? null });
    // Browsers send a preflight (OPTIONS) without a key.
    if (http.settings.corsOrigins.length > 0) router.options(path, handler(http, route));
  }
  return router;
}

const handler =
  (http: HttpInterface, route: Route, operation?: string): Middleware =>
  async (context) => {
    context.state['operation'] = operation;
    const { petId } = context['params'];
    sendResponse(context, await http.handle(new KoaRequest(context), { route, petId }));
  };

/**
 * A whole application: the operations, health checks, OpenAPI document and docs page, and an error response for every
 * other path. Failures go to the log of `http` alone. Middleware added to it never runs: add yours to an application in
 * which you mount this one. That one then emits the failures as `error`.
 */
export function createKoaApp(http: HttpInterface): Koa {
  const app = new StandaloneApp();
  app.use(animalStoreRouter(http).routes()); // tracing libraries name requests by its routes
  app.use(async (context) => {
    sendResponse(context, await http.handle(new KoaRequest(context)));
  });
  // An error with a syscall is a client that disconnected: Koa would print its stack.
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined) app.onerror(error);
  });
  return app;
}
