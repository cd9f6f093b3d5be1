import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { types } from 'node:util';
import type { Principal } from '../../../application/ports/authenticator.js';
import { bodyAlreadyRead, clientDisconnected, payloadTooLarge } from '../error-responses.js';
import type { HttpInterface } from '../http-interface.js';
import { NodeRequest } from '../node/node-request.js';

/** A request of Koa. koa-bodyparser reads its body, unless the host's own has. */
export class KoaRequest extends NodeRequest {
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
    const { rawBody = await this.#parsed(limit) }: { rawBody?: unknown } = this.#context.request;
    if (typeof rawBody !== 'string' && !types.isUint8Array(rawBody)) throw bodyAlreadyRead();
    if (Buffer.byteLength(rawBody) > limit) throw payloadTooLarge(limit);
    return rawBody;
  }

  /** The text that koa-bodyparser reads; `undefined` if another parser has read the body. */
  async #parsed(limit: number): Promise<unknown> {
    const { req, res, request } = this.#context;
    if (req.readableDidRead) return undefined;
    delete req.headers['content-encoding']; // it is `identity` here, and the parser refuses `Identity`
    // The parser skips a request whose `body` is set, and the host's own sets {} for types that it does not read.
    request.body = undefined;
    this.#context['disableBodyParser'] = false;
    try {
      await this.#parseBody(this.#context, async () => {});
      return request.rawBody;
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

/**
 * koa-bodyparser for the bodies of an interface. It reads all types, because the interface checks the type. Only
 * the text that it keeps is used: its own parsing rounds integers.
 */
export const bodyParserOf = ({ settings }: HttpInterface): Middleware =>
  // Its types allow only a text; a number works, too.
  bodyParser({ jsonLimit: settings.bodyLimit as never, detectJSON: () => true });
