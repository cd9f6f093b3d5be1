import bodyParser from 'koa-bodyparser';
import type { Context, Middleware } from 'koa';
import type { Principal } from '../../../application/ports/authenticator.js';
import { clientGone, payloadTooLarge } from '../error-responses.js';
import type { HttpInterface } from '../http-interface.js';
import { splitRequestTarget } from '../http-message.js';
import { NodeRequest, bytesIn } from '../node/node-request.js';

/** A request of Koa. koa-bodyparser reads its body, unless other middleware has. */
class KoaRequest extends NodeRequest {
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
    return super.originalPath ?? (originalUrl === req.url ? undefined : splitRequestTarget(originalUrl).path);
  }

  override onAuthenticated(principal: Principal): void {
    super.onAuthenticated(principal);
    this.#context.state['principal'] = principal;
  }

  protected override get keptBody(): Uint8Array | undefined {
    return bytesIn(this.#context.request) ?? super.keptBody;
  }

  /**
   * Parses in a context of its own. In the request's, koa-bodyparser would skip bodies that an earlier one skipped, and
   * types that the interface accepts.
   */
  protected override async receive(limit: number): Promise<Uint8Array> {
    if (limit === 0) return super.receive(limit); // the parser has one limit
    const { req, request } = this.#context;
    const own = { req, request: { is: () => 'text', rawBody: undefined } };
    if (req.headers['content-encoding'] !== undefined) req.headers['content-encoding'] = 'identity';
    try {
      await this.#parse(own as unknown as Context, async () => {});
    } catch (error) {
      const { type } = error as { readonly type?: unknown };
      if (type === 'entity.too.large') throw payloadTooLarge(limit);
      throw type === 'request.aborted' ? clientGone() : error;
    }
    request.rawBody = own.request.rawBody;
    return own.request.rawBody ?? new Uint8Array();
  }
}

/**
 * Makes requests of the contexts of Koa. koa-bodyparser reads and limits; the interface decodes and parses strictly.
 */
export function koaRequests({ settings: { bodyLimit } }: HttpInterface): (context: Context) => KoaRequest {
  const options = {
    enableTypes: ['text'],
    textLimit: bodyLimit,
    encoding: null, // Gives bytes. Its types do not know it.
  };
  const parse = bodyParser(options as unknown as bodyParser.Options);
  return (context) => new KoaRequest(context, parse);
}
