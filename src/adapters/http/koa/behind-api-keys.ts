import { STATUS_CODES } from 'node:http';
import type { Router } from '@koa/router';
import type Koa from 'koa';
import type { Context, Middleware } from 'koa';
import type { Scope } from '../../../application/ports/authenticator.js';
import { stringifyJson } from '../../../exact-json.js';
import { HttpError, refusal } from '../error-responses.js';
import type { HttpInterface } from '../http-interface.js';
import { REVALIDATED, type HttpResponse } from '../http-message.js';
import type { Endpoint } from '../routes.js';
import { KoaRequest, bodyParserOf, respondAndEmit, type respond } from './koa-request.js';

/**
 * A router of your own behind the API keys of the interface, as middleware: its routes get what the operations have,
 * from request ids, the log, keys and the rate limit to the deadline, CORS, 405 and the Error shape. GET needs the scope
 * `pets:read`, DELETE `pets:delete`, any other method `pets:write`. `ctx.state` becomes an `AnimalStoreState`.
 *
 * A route responds with text, or with what `stringifyJson` writes as JSON. It refuses a request by
 * `ctx.throw(status, message, { code })`; the default code is the status in words, such as `not_found`. Any
 * other error is a fault: the client gets 500, the log of `http` the error, and your application emits it as `error`.
 */
export const behindApiKeys = (http: HttpInterface, router: Router): Middleware =>
  guarded(http, router, respondAndEmit);

export function guarded(http: HttpInterface, router: Router, answerBy: typeof respond): Middleware {
  const parse = bodyParserOf(http);
  const dispatch = router.routes() as Middleware;
  return async (context, next) => {
    const { path, state } = context;
    const request = new KoaRequest(context, parse);
    const layers = router.stack.filter((layer) => layer.methods[0] && layer.regexp.test(path));
    if (layers.length === 0 || request.path !== path) return next();
    const handle: Endpoint['handle'] = async ({ signal }) => {
      state['signal'] = signal;
      try {
        await dispatch(context, async () => {});
      } catch (error) {
        return refusalOf(error);
      }
      return responseIn(context);
    };
    const endpoints = layers.flatMap(({ methods, name }) =>
      methods.map((method): [string, Endpoint] => [
        method,
        { operation: name, scope: SCOPES_OF[method] ?? 'pets:write', handle },
      ]),
    );
    const route = { path, endpoints: new Map(endpoints), open: false };
    route.endpoints.delete('HEAD'); // it follows from GET
    answerBy(context, await http.handle(request, { route, parameters: {} }));
  };
}

const SCOPES_OF: Readonly<Record<string, Scope>> = { GET: 'pets:read', DELETE: 'pets:delete' };

/** What a route of the host has left in the context. */
function responseIn({ method, status, response, body }: Context): HttpResponse {
  if (status === 404 && body === undefined) throw new HttpError('route_not_found');
  const isRead = method === 'GET' || method === 'HEAD';
  const caching = isRead ? REVALIDATED : { 'Cache-Control': 'no-store' };
  const value: unknown = body ?? '';
  return {
    status,
    headers: response.get('Cache-Control') ? {} : caching,
    body: typeof value === 'string' ? value : stringifyJson(value),
  };
}

/** The response to an error that `context.throw` made for the client. Throws any other. */
function refusalOf(thrown: unknown): HttpResponse {
  const error = Object(thrown) as InstanceType<typeof Koa.HttpError>;
  const { expose, status, message, headers } = error;
  if (!expose) throw thrown;
  const code: unknown =
    error['code'] ?? STATUS_CODES[status]?.toLowerCase().replaceAll(/\W+/g, '_');
  return refusal({ code: String(code), message, status }, headers);
}
