import { Router, type RouterMiddleware } from '@koa/router';
import Koa from 'koa';
import type { HttpInterface } from '../http-interface.js';
import { writeResponse } from '../node/node-request.js';
import type { Operation } from '../operations.js';
import { guarded } from './behind-api-keys.js';
import {
  KoaRequest,
  bodyParserOf,
  respond,
  respondAndEmit,
  type AnimalStoreState,
} from './koa-request.js';

/**
 * A router with the operations of the interface, by method, path and name, to mount in your application. It leaves all
 * other paths and methods to the next middleware, but OPTIONS is its own where `corsOrigins` is set.
 *
 * Faults (responses of 500 and above) are emitted as `error` by your application, as Koa does with its own. Your
 * middleware may still change their responses, like all others.
 */
export const animalStoreRouter = (http: HttpInterface): Router<AnimalStoreState> =>
  routerOf(http, respondAndEmit);

function routerOf(http: HttpInterface, answerBy: typeof respond): Router<AnimalStoreState> {
  const router = new Router<AnimalStoreState>({ strict: true, sensitive: true });
  const parse = bodyParserOf(http);
  for (const route of http.routes) {
    if (route.open) continue;
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    const handling =
      (operation?: string): RouterMiddleware<AnimalStoreState> =>
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
 * @param own routers of your own, served as by `behindApiKeys`
 */
export function createKoaApp(http: HttpInterface, ...own: readonly Router[]): Koa {
  const app = new Koa();
  const parse = bodyParserOf(http);
  const answerBy: typeof respond = (context, answer) => {
    if (context.app !== app) return respond(context, answer); // koa-mount runs its middleware in another one
    context.respond = false; // no other middleware runs, and Koa's own response takes a tenth of a request
    writeResponse(context.req, context.res, answer);
  };
  app.use(routerOf(http, answerBy).routes()); // traces name requests by its routes
  for (const router of own) app.use(guarded(http, router, respond));
  app.use(async (context) => answerBy(context, await http.handle(new KoaRequest(context, parse))));
  // Koa would print a stack for each client that disconnects.
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined) app.onerror(error);
  });
  return app;
}
