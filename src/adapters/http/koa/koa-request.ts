import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Principal } from '../../../application/ports/authenticator.js';
import { clientDisconnected, payloadTooLarge } from '../error-responses.js';
import { NodeRequest, keptBody } from '../node/node-request.js';

/**
 * A context of Koa as a request. koa-bodyparser reads the body, unless a parser of the host has kept it. It reads it as
 * text: its JSON would have rounded integers.
 */
export class KoaRequest extends NodeRequest {
  readonly #context: Context;

  constructor(context: Context) {
    super(context.req, context.res);
    this.#context = context;
  }

  onAuthenticated(principal: Principal): void {
    this.#context.state['principal'] = principal;
  }

  override async readBody(limit: number): Promise<Uint8Array | string> {
    const { req, request } = this.#context;
    return keptBody(req, request.rawBody, limit) ?? this.#readText(limit);
  }

  /** Lets koa-bodyparser read the body. On a context of its own: the host's would get a `body`. */
  async #readText(limit: number): Promise<string> {
    const { app, req, res } = this.#context;
    delete req.headers['content-encoding']; // checked already; the parser would refuse 'Identity'
    const parseBody = bodyParser({ enableTypes: ['text'], textLimit: String(limit) });
    const own = app.createContext(req, res);
    own.request.is = () => 'text/plain'; // the interface has checked the type
    try {
      await parseBody(own, async () => {});
      return own.request.rawBody as string;
    } catch (error) {
      const { type } = error as { readonly type?: unknown };
      if (type === 'request.aborted') throw clientDisconnected();
      if (type !== 'entity.too.large') throw error; // for example the 408 of NodeServer for a late body
      res.once('finish', () => req.resume()); // else the rest would block the connection
      throw payloadTooLarge(limit);
    }
  }
}
