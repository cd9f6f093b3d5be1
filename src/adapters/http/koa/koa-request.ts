import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Principal } from '../../../application/ports/authenticator.js';
import { clientDisconnected, payloadTooLarge } from '../error-responses.js';
import type { HttpInterface } from '../http-interface.js';
import type { HttpRequest } from '../http-message.js';
import { NodeRequest, keptBody } from '../node/node-request.js';

/**
 * Returns a function that wraps a context of Koa as a request. koa-bodyparser reads the body, unless a parser of the
 * host has kept it. The parser accepts every type, because the interface checks the type. Only its text is used: its
 * parsing rounds integers.
 */
export function koaRequests({ settings }: HttpInterface): (context: Context) => HttpRequest {
  // Its types allow only a text; a number works, too.
  const jsonLimit = settings.bodyLimit as never;
  const parseBody = bodyParser({ jsonLimit, detectJSON: () => true });
  return (context) => new KoaRequest(context, parseBody);
}

class KoaRequest extends NodeRequest {
  readonly #context: Context;
  readonly #parseBody: Middleware;

  constructor(context: Context, parseBody: Middleware) {
    super(context.req, context.res);
    this.#context = context;
    this.#parseBody = parseBody;
  }

  onAuthenticated(principal: Principal): void {
    this.#context.state['principal'] = principal;
  }

  override async readBody(limit: number): Promise<Uint8Array | string> {
    const { req, request } = this.#context;
    const kept = keptBody(req, request.rawBody);
    if (kept === undefined) return this.#readText(limit);
    if (Buffer.byteLength(kept) > limit) throw payloadTooLarge(limit);
    return kept;
  }

  /** Lets koa-bodyparser read the body, on a context of its own: it must not touch the host's. */
  async #readText(limit: number): Promise<string> {
    const { app, req, res } = this.#context;
    delete req.headers['content-encoding']; // it is `identity` here, and the parser refuses `Identity`
    const context = app.createContext(req, res);
    try {
      await this.#parseBody(context, async () => {});
      return context.request.rawBody as string;
    } catch (error) {
      const { type, body } = error as { readonly type?: unknown; readonly body?: unknown };
      if (typeof body === 'string') return body; // refused, perhaps wrongly: the interface parses it itself
      if (type === 'request.aborted') throw clientDisconnected();
      if (type !== 'entity.too.large') throw error;
      res.once('finish', () => req.resume()); // else the rest would block the connection
      throw payloadTooLarge(limit);
    }
  }
}
