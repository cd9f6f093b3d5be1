import Koa, { type Context } from 'koa';
import type { HttpResponse } from '../http-message.js';
import { writeResponse } from '../node/write-response.js';

/**
 * The application of `createKoaApp`. No middleware of a host sees a context whose `app` is one, so `sendResponse`
 * bypasses Koa. Mounted, the contexts belong to the host's application.
 */
export class StandaloneApp extends Koa {}

/**
 * Sends a response. In a host's application Koa sends it, so that middleware may change it, and the application emits a
 * failure.
 */
export function sendResponse(context: Context, answer: HttpResponse): void {
  const { app, res, response } = context;
  if (app instanceof StandaloneApp) {
    context.respond = false; // Koa's own response takes a tenth of the time of a request
    writeResponse(res, answer);
    return;
  }
  const { status, headers, body, failure } = answer;
  if (failure) app.emit('error', failure, context);
  response.status = status;
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'Vary') response.vary(value);
    else res.setHeader(name, value); // Koa's own `set` takes ten times as long
  }
  // Koa adds Content-Length, for HEAD too.
  if (body.length > 0) response.body = typeof body === 'string' ? body : Buffer.from(body);
}
