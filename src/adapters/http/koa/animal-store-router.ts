import { Router } from '@koa/router';
import type Koa from 'koa';
import type { Middleware } from 'koa';
import type { HttpInterface } from '../http-interface.js';
import type { Operation } from '../operations.js';
import { behindApiKeys } from './behind-api-keys.js';
import {
  KoaRequest,
  WholeApp,
  bodyParserOf,
  handleWith,
  respond,
  type AnimalStoreState,
} from './koa-request.js';

/**
 * A router with the operations of the interface, by method, path and name, to mount in your application. It leaves all
 * other paths and methods to the next middleware, but OPTIONS is its own where `corsOrigins` is set.
 *
 * Faults (responses of 500 and above) are emitted as `error` by your application, as Koa does with its own. Your
 * middleware may still change their responses, like all others.
 */
export function animalStoreRouter(http: HttpInterface): Router<AnimalStoreState> {
  const router = new Router<AnimalStoreState>({ strict: true, sensitive: true });
  for (const route of http.routes) {
    if (route.open) continue;
    const handle = (operation?: string): Middleware =>
      handleWith(http, ({ state, params }) => {
        Object.assign(state, { operation });
        return { route, parameters: params };
      });
    const path = route.path.replace('{petId}', ':petId');
    for (const [method, { operation }] of route.endpoints) {
      const verb = method.toLowerCase() as Lowercase<Operation['method']>;
      if (operation) router[verb](operation, path, handle(operation));
    }
    // Browsers ask by OPTIONS before they send a key.
    if (http.settings.corsOrigins.length > 0) router.options(path, handle());
  }
  return router;
}

/**
 * A whole application: the operations, health checks, OpenAPI document and docs page, and errors for all the rest. Its
 * faults are in the log of `http`. Middleware that is used after it never runs: mount it in an application of yours,
 * which then emits the faults as `error`.
 * @param own routers of your own, served as by `behindApiKeys`
 */
export function createKoaApp(http: HttpInterface, ...own: readonly Router[]): Koa {
  const app = new WholeApp();
  app.use(animalStoreRouter(http).routes()); // traces name requests by its routes
  for (const router of own) app.use(behindApiKeys(http, router));
  const parseBody = bodyParserOf(http);
  app.use(async (context) => {
    respond(context, await http.handle(new KoaRequest(context, parseBody)));
  });
  // Koa would print a stack for each client that disconnects.
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined) app.onerror(error);
  });
  return app;
}
