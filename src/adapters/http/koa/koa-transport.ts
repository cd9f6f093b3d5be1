import Koa, { type Middleware } from 'koa';
import { Router } from '@koa/router';
import type { HttpInterface } from '../http-interface.js';
import type { HttpAnswer } from '../http-message.js';
import type { Route } from '../routes/route.js';
import { KoaRequest, bodyReader } from './koa-request.js';

/**
 * The animal store as a Koa application: match a route, let the interface answer, write the answer. The
 * order of all checks is the interface's (`HttpInterface`), the same for every transport.
 */
export function createKoaApp(http: HttpInterface): Koa {
  const app = new Koa();
  // Koa would print a stack for every client that breaks its connection off.
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined) app.onerror(error);
  });
  app.use(animalStore(http));
  return app;
}

/** The same as a middleware, to be mounted in an application of one's own. It answers every request it gets. */
export function animalStore(http: HttpInterface): Middleware {
  const findRoute = routeFinder(http.routes);
  const { bodyLimit } = http.settings;
  const readBody = bodyReader(bodyLimit);
  return async (context) => {
    const request = new KoaRequest(context, readBody, bodyLimit);
    const found = findRoute(request.path);
    write(context.response, await http.answer(request, found?.route, found?.parameters ?? {}));
  };
}

interface Found {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Finds routes by @koa/router, paths only: what a method may do is the interface's to say. (The router's
 * `allowedMethods` answers 501 to TRACE and 200 to OPTIONS.) It tries all that it knows for every request, so
 * the many paths without parameters are looked up before it.
 */
function routeFinder(routes: readonly Route[]): (path: string) => Found | undefined {
  const router = new Router({ strict: true, sensitive: true });
  const fixed = new Map<string, Found>();
  const byPattern = new Map<string, Route>();
  for (const route of routes) {
    const pattern = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    if (pattern === route.path) {
      fixed.set(pattern, { route, parameters: {} });
    } else {
      byPattern.set(pattern, route);
      router.register(pattern, ['GET'], () => {}, { name: pattern });
    }
  }
  const match = (path: string): Found | undefined => {
    const [layer] = router.match(path, 'GET').path;
    const route = byPattern.get(layer?.name ?? '');
    if (layer === undefined || route === undefined) return undefined;
    // As sent: captures(), which decodes, leaves what it cannot decode and so hides the difference.
    const [, ...sent] = layer.regexp.exec(path) ?? [];
    return {
      route,
      parameters: Object.fromEntries(layer.paramNames.map(({ name }, index) => [name, sent[index] ?? ''])),
    };
  };
  return (path) => fixed.get(path) ?? match(path);
}

function write(response: Koa.Response, { status, headers, body }: HttpAnswer): void {
  response.status = status;
  response.set(headers);
  if (status !== 204 && status !== 304) response.body = body; // Koa says its length, to HEAD too
}
