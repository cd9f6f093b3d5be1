import type { Middleware } from 'koa';
import type { Scope } from '../../../application/ports/authenticator.js';
import type { HttpInterface } from '../http-interface.js';
import { KoaRequest, bodyParserOf } from './koa-request.js';
import { respond } from './koa-response.js';

/**
 * Middleware for routes of your own: lets only callers pass whose API key has the scope, and sets
 * `ctx.state.principal`. It gives each request a place and an `X-Request-Id`, and refuses in the Error shape with 401,
 * 403, or 503 at the deadline or when there are too many. What your routes throw is yours to handle. Use
 * `stringifyJson` for animals.
 */
export function requireApiKey(http: HttpInterface, scope: Scope): Middleware {
  const parseBody = bodyParserOf(http);
  return async (context, next) => {
    const request = new KoaRequest(context, parseBody);
    const refusal = await http.guard(request, scope, (requestId) => {
      context.set('X-Request-Id', requestId);
      return next();
    });
    if (refusal) respond(context, refusal);
  };
}
