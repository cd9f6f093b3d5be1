import Koa, { type Context } from 'koa';
import type { HttpResponse } from '../http-message.js';

/** An application that is the interface and nothing else: no middleware runs around it. */
export class WholeApp extends Koa {}

/** Sends a response, by Koa where other middleware may still change it. Tells the host's application of a fault. */
export function respond(context: Context, { status, headers, body, fault }: HttpResponse): void {
  const { app, method, res, response } = context;
  const content = typeof body === 'string' ? body : Buffer.from(body);
  if (app instanceof WholeApp) {
    context.respond = false; // Koa's own response takes a tenth of a request
    const hasBody = status !== 204 && status !== 304;
    const length = hasBody && { 'Content-Length': Buffer.byteLength(content) };
    res.writeHead(status, { ...headers, ...length });
    res.end(hasBody && method !== 'HEAD' ? content : undefined);
    return;
  }
  if (fault) app.emit('error', fault, context);
  response.status = status;
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'Vary') response.vary(value);
    else res.setHeader(name, value); // Koa's own `set` takes ten times as long
  }
  // Koa adds Content-Length, for HEAD too.
  if (content.length > 0) response.body = content;
}
