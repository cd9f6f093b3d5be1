import bodyParser from 'koa-bodyparser';
import type { Context, Middleware } from 'koa';
import type { Principal } from '../../../application/ports/authenticator.js';
import { clientGone, payloadTooLarge } from '../error-responses.js';
import type { HttpInterface } from '../http-interface.js';
import { announcedLength } from '../http-message.js';
import { NodeRequest, rawHeaderValues } from '../node/node-request.js';

/** A request of Koa. What earlier middleware did counts: changes to `ctx.req.headers`, and a body that it has read. */
class KoaRequest extends NodeRequest {
  readonly #context: Context;
  readonly #bodyLimit: number;
  readonly #parse: Middleware;

  constructor(context: Context, bodyLimit: number, parse: Middleware) {
    super(context.req, context.res, bodyLimit);
    this.#context = context;
    this.#bodyLimit = bodyLimit;
    this.#parse = parse;
  }

  override header(name: string): string | undefined {
    const { req } = this.#context;
    const value = req.headers[name]?.toString();
    if (value === undefined || value === super.header(name)) return value;
    // Changed, or repeated: Node.js drops the second Authorization and the like.
    const sent = rawHeaderValues(req, name);
    return value === sent[0] ? sent.join(', ') : value;
  }

  override async hasBody(): Promise<boolean> {
    const bytes = this.#bytesRead();
    return bytes === undefined ? super.hasBody() : bytes.length > 0;
  }

  override async readBody(): Promise<Uint8Array> {
    const context = this.#context;
    if (this.#bytesRead() === undefined && !context.req.readableEnded) {
      // koa-bodyparser takes the length as an int32.
      if (announcedLength(this) > this.#bodyLimit) throw payloadTooLarge(this.#bodyLimit);
      await this.#parseBody();
    }
    const bytes = this.#bytesRead() ?? new Uint8Array();
    if (bytes.length > this.#bodyLimit) throw payloadTooLarge(this.#bodyLimit);
    return bytes;
  }

  /** In a context of its own: koa-bodyparser skips bodies that an earlier one skipped, and types that the interface accepts. */
  async #parseBody(): Promise<void> {
    const { req, request } = this.#context;
    const own = { req, request: { is: () => 'text', rawBody: undefined } };
    if (req.headers['content-encoding'] !== undefined) req.headers['content-encoding'] = 'identity';
    try {
      await this.#parse(own as unknown as Context, async () => {});
    } catch (error) {
      const { type } = error as { readonly type?: unknown };
      if (type === 'entity.too.large') throw payloadTooLarge(this.#bodyLimit);
      throw type === 'request.aborted' ? clientGone() : error;
    }
    request.rawBody = own.request.rawBody;
  }

  onAuthenticated(principal: Principal): void {
    this.#context.state['principal'] = principal;
  }

  /** The body, if this or another parser has read it. Exact if the parser keeps bytes, not text. */
  #bytesRead(): Uint8Array | undefined {
    const { req, request } = this.#context;
    if (request.rawBody instanceof Uint8Array) return request.rawBody;
    if (typeof request.rawBody === 'string') return new TextEncoder().encode(request.rawBody);
    if (!req.readableDidRead) return undefined;
    throw new Error(
      'Other middleware has read the body. Mount it after the animal store router, or let it set ctx.request.rawBody',
    );
  }
}

/** Makes requests of the contexts of Koa. koa-bodyparser reads and limits; the interface decodes and parses strictly. */
export function koaRequests({ settings: { bodyLimit } }: HttpInterface): (context: Context) => KoaRequest {
  const options = {
    enableTypes: ['text'],
    textLimit: bodyLimit,
    encoding: null, // Gives bytes. Its types do not know it.
  };
  const parse = bodyParser(options as unknown as bodyParser.Options);
  return (context) => new KoaRequest(context, bodyLimit, parse);
}
