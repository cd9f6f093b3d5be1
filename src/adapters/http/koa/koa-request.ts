import Koa, { type Context, type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Principal } from '../../../application/ports/authenticator.js';
import { clientDisconnected, payloadTooLarge } from '../error-responses.js';
import type { HttpInterface } from '../http-interface.js';
import { splitRequestTarget, type HttpResponse } from '../http-message.js';
import { NodeRequest, bytesIn, contentOf, writeResponse } from '../node/node-request.js';
import type { FoundRoute } from '../routes.js';

/** What the router adds to `ctx.state`. */
export interface AnimalStoreState {
  /** The operation that the request is for. Routes of your own have none. */
  readonly operation?: string;
  /** Who is calling, once the API key turned out to be valid. */
  readonly principal?: Principal;
  /** Aborted at the deadline, or when the client disconnects. Only routes of your own have it. */
  readonly signal?: AbortSignal;
}

/** An application that is the interface and nothing else: no middleware runs around it. */
export class WholeApp extends Koa {}

/** Sends a response, by Koa where other middleware may still change it. Tells the host's application of a fault. */
export function respond(context: Context, answer: HttpResponse): void {
  const { app, req, res, response } = context;
  const isWhole = app instanceof WholeApp;
  if (answer.fault && !isWhole) app.emit('error', answer.fault, context);
  if (res.headersSent) {
    context.respond = false; // other middleware has begun a response
    return;
  }
  if (isWhole) {
    context.respond = false; // Koa's own response takes a tenth of a request
    writeResponse(req, res, answer);
    return;
  }
  response.status = answer.status;
  // Koa's own `set` takes ten times as long. Other middleware sees the same headers.
  for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value);
  // Koa adds Content-Length, for HEAD too.
  if (answer.body !== '') response.body = contentOf(answer.body);
}

/**
 * Middleware that lets the interface handle some requests.
 * @param find returns the route of a request, and may prepare `ctx.state`; `undefined` leaves the request to the next
 * middleware
 */
export function handleWith(
  http: HttpInterface,
  find: (context: Context) => FoundRoute | undefined,
): Middleware {
  const parseBody = bodyParserOf(http);
  return async (context, next) => {
    const request = new KoaRequest(context, parseBody);
    // Koa decodes and resolves some targets, which the interface takes as sent: their paths differ.
    const found = request.path === context.path ? find(context) : undefined;
    if (!found) return next();
    respond(context, await http.handle(request, found));
  };
}

/** A request of Koa. koa-bodyparser reads its body, unless other middleware has. */
export class KoaRequest extends NodeRequest {
  readonly #context: Context;
  readonly #parseBody: Middleware;

  constructor(context: Context, parseBody: Middleware) {
    super(context.req, context.res);
    this.#context = context;
    this.#parseBody = parseBody;
  }

  override get originalPath(): string {
    // An outer host such as Express may have changed the target before Koa.
    return super.originalPath ?? splitRequestTarget(this.#context.originalUrl).path;
  }

  override onAuthenticated(principal: Principal): void {
    super.onAuthenticated(principal);
    this.#context.state['principal'] = principal;
  }

  protected override get keptBody(): Uint8Array | undefined {
    return bytesIn(this.#context.request) ?? super.keptBody;
  }

  protected override async receive(limit: number): Promise<Uint8Array> {
    // The parser has one limit, and knows encodings by their case.
    if (limit > 0 && this.header('content-encoding') === undefined) await this.#parse(limit);
    const body = this.keptBody ?? (await super.receive(limit));
    this.#context.request.rawBody = body;
    return body;
  }

  async #parse(limit: number): Promise<void> {
    try {
      await this.#parseBody(this.#context, async () => {});
    } catch (error) {
      const { type } = error as { readonly type?: unknown };
      if (type === 'entity.too.large') throw payloadTooLarge(limit);
      if (type === 'request.aborted') throw clientDisconnected();
      throw error;
    }
  }
}

/** koa-bodyparser, told to keep the bytes: the interface decodes and parses them strictly. */
export function bodyParserOf({ settings }: HttpInterface): Middleware {
  // Its types know neither `encoding` nor a limit that is a number.
  const options: object = {
    // Its parser of texts returns what it reads as it is, so let that one also take JSON.
    enableTypes: ['text'],
    extendTypes: { text: ['application/json', '+json'] },
    textLimit: settings.bodyLimit,
    encoding: null, // bytes, not a string
  };
  return bodyParser(options);
}
