import type { Middleware } from 'koa';
import type { Scope } from '../../../application/ports/authenticator.js';
import type { HttpInterface } from '../http-interface.js';
import { KoaRequest } from './koa-request.js';
import { sendResponse } from './koa-response.js';

/**
 * Middleware for routes of your own: lets a caller pass only if its API key has the scope, and sets
 * `ctx.state.principal`. It counts each request as in progress, sets `X-Request-Id`, and responds itself with 401, 403,
 * or 503 (past the deadline, or too many requests). Errors of your routes go to your own error handling. Use
 * `stringifyJson` for animals.
 */
export function requireApiKey(http: HttpInterface, scope: Scope): Middleware {
  return async (context, next) => {
    const refusal = await http.guard(new KoaRequest(context), scope, (requestId) => {
      context.set('X-Request-Id', requestId);
      return next();
    });
    if (refusal && !context.headerSent) sendResponse(context, refusal);
  };
}
