import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Principal } from '../../../application/ports/authenticator.js';
import { clientDisconnected, payloadTooLarge } from '../error-responses.js';
import type { HttpInterface } from '../http-interface.js';
import { splitRequestTarget, type HttpResponse } from '../http-message.js';
import { NodeRequest, bytesIn, contentOf } from '../node/node-request.js';
import type { OperationId } from '../operations.js';

/** What the router adds to `ctx.state`. */
export interface AnimalStoreState {
  /** The operation that the request is for. Routes of your own have none. */
  readonly operation?: OperationId;
  /** Who is calling, once the API key turned out to be valid. */
  readonly principal?: Principal;
  /** Aborted at the deadline, or when the client disconnects. Only routes of your own have it. */
  readonly signal?: AbortSignal;
}

/** Hands the response to Koa, so that other middleware can still change it. */
export function respond(context: Context, answer: HttpResponse): void {
  const { res, response } = context;
  if (res.headersSent) {
    context.respond = false; // other middleware has begun a response
    return;
  }
  response.status = answer.status;
  // Koa's own `set` takes ten times as long. Other middleware sees the same headers.
  for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value);
  if (answer.body !== '') response.body = contentOf(answer.body); // Koa adds Content-Length, for HEAD too.
}

/** The same, and tells the application of a fault. */
export function respondAndEmit(context: Context, answer: HttpResponse): void {
  if (answer.fault) context.app.emit('error', answer.fault, context);
  respond(context, answer);
}

/** A request of Koa. koa-bodyparser reads its body, unless other middleware has. */
export class KoaRequest extends NodeRequest {
  readonly #context: Context;
  readonly #parse: Middleware;

  constructor(context: Context, parse: Middleware) {
    super(context.req, context.res);
    this.#context = context;
    this.#parse = parse;
  }

  override get originalPath(): string | undefined {
    const { originalUrl, req } = this.#context;
    // An outer host such as Express may have changed the target before Koa.
    return (
      super.originalPath ??
      (originalUrl === req.url ? undefined : splitRequestTarget(originalUrl).path)
    );
  }

  override onAuthenticated(principal: Principal): void {
    super.onAuthenticated(principal);
    this.#context.state['principal'] = principal;
  }

  protected override get keptBody(): Uint8Array | undefined {
    return bytesIn(this.#context.request) ?? super.keptBody;
  }

  protected override async receive(limit: number): Promise<Uint8Array> {
    const { request } = this.#context;
    try {
      // The parser has one limit, and knows encodings by their case.
      if (limit > 0 && this.header('content-encoding') === undefined)
        await this.#parse(this.#context, async () => {});
    } catch (error) {
      const { type } = error as { readonly type?: unknown };
      if (type === 'entity.too.large') throw payloadTooLarge(limit);
      throw type === 'request.aborted' ? clientDisconnected() : error;
    }
    const read = this.keptBody ?? (await super.receive(limit));
    request.rawBody = read;
    return read;
  }
}

/** koa-bodyparser, told to keep the bytes: the interface decodes and parses them strictly. */
export function bodyParserOf({ settings: { bodyLimit } }: HttpInterface): Middleware {
  const options = {
    enableTypes: ['text'],
    extendTypes: { text: ['json', '+json'] },
    textLimit: bodyLimit,
    encoding: null, // its types do not know that
  };
  return bodyParser(options as unknown as bodyParser.Options);
}
