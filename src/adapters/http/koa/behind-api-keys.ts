import { STATUS_CODES } from 'node:http';
import { Stream } from 'node:stream';
import type { Router } from '@koa/router';
import type Koa from 'koa';
import type { Context, Middleware } from 'koa';
import type { Scope } from '../../../application/ports/authenticator.js';
import { stringifyJson } from '../../../exact-json.js';
import { HttpError, refusal } from '../error-responses.js';
import type { HttpInterface } from '../http-interface.js';
import { REVALIDATED, UNCACHED, type HttpResponse } from '../http-message.js';
import type { Endpoint } from '../routes.js';
import { handleWith } from './koa-request.js';

/**
 * A router of your own behind the API keys of the interface, as middleware: its routes get what the operations have,
 * from request ids, the log, keys and the rate limit to the deadline, CORS, 405 and the Error shape. GET needs the scope
 * `pets:read`, DELETE `pets:delete`, any other method `pets:write`. `ctx.state` becomes an `AnimalStoreState`.
 *
 * A route responds with text, or with what `stringifyJson` writes as JSON; bytes and streams are a fault. It refuses a
 * request by `ctx.throw(status, message, { code })`; the default code is the status in words, such as `not_found`. Any
 * other error is a fault: the client gets 500, the log of `http` the error, and your application emits it as `error`.
 * The interface responds to OPTIONS: routes of the router for it are not called.
 */
export function behindApiKeys(http: HttpInterface, router: Router): Middleware {
  const dispatch = router.routes() as Middleware;
  return handleWith(http, (context) => {
    const { path, state } = context;
    const endpoints = endpointsAt(path, router, async ({ signal }) => {
      state['signal'] = signal;
      try {
        await dispatch(context, async () => {});
        return responseIn(context);
      } catch (error) {
        if (isExposed(error)) return refusalOf(error);
        throw error;
      }
    });
    if (endpoints.size === 0) return undefined;
    return { route: { path, endpoints, open: false }, parameters: {} };
  });
}

/** What the router has at a path, by method. */
function endpointsAt(
  path: string,
  router: Router,
  handle: Endpoint['handle'],
): Map<string, Endpoint> {
  const endpoints = new Map<string, Endpoint>();
  // `path` of the result has the routes of every method; `match` wants one all the same.
  const matching = router.match(path, '').path;
  for (const { methods, name } of matching) {
    for (const method of methods) {
      if (method === 'HEAD' || method === 'OPTIONS') continue; // the interface adds them
      endpoints.set(method, { operation: name, scope: scopeOf(method), handle });
    }
  }
  return endpoints;
}

function scopeOf(method: string): Scope {
  if (method === 'GET') return 'pets:read';
  return method === 'DELETE' ? 'pets:delete' : 'pets:write';
}

/** What a route of the host has left in the context. */
function responseIn({ method, status, response, body }: Context): HttpResponse {
  // Koa's status for a request that no route has answered.
  if (status === 404 && body === undefined) throw new HttpError('route_not_found');
  const isRead = method === 'GET' || method === 'HEAD';
  const caching = isRead ? REVALIDATED : UNCACHED;
  const value: unknown = body ?? '';
  return {
    status,
    headers: response.get('Cache-Control') ? {} : caching,
    body: typeof value === 'string' ? value : jsonOf(value),
  };
}

/** Bytes and streams. As JSON each would be an object of the wrong kind, such as `{"type":"Buffer"}`. */
const BYTES = [Uint8Array, Stream, ReadableStream, Blob, Response] as const;

/** @throws {TypeError} the value is not a JSON value */
function jsonOf(value: unknown): string {
  if (BYTES.some((type) => value instanceof type))
    throw new TypeError(
      'ctx.body must be text or JSON, not bytes: no Buffer, stream, Blob or Response.',
    );
  return stringifyJson(value);
}

type ClientError = InstanceType<typeof Koa.HttpError>;

/** Whether it is an error for the client, as `context.throw` makes it. */
const isExposed = (thrown: unknown): thrown is ClientError =>
  thrown instanceof Error && 'expose' in thrown && thrown.expose === true;

function refusalOf({ status, message, headers, code }: ClientError): HttpResponse {
  const inWords = STATUS_CODES[status]?.toLowerCase().replaceAll(/\W+/g, '_');
  return refusal({ code: String(code ?? inWords), message, status }, headers);
}
