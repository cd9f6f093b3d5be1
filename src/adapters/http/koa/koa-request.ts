import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Principal } from '../../../application/ports/authenticator.js';
import { bodyAlreadyRead, clientDisconnected, payloadTooLarge } from '../error-responses.js';
import type { HttpInterface } from '../http-interface.js';
import type { HttpRequest } from '../http-message.js';

/** A request of Koa. koa-bodyparser reads its body, unless the host's own has. */
export class KoaRequest implements HttpRequest {
  readonly #context: Context;
  readonly #parseBody: Middleware;

  constructor(context: Context, parseBody: Middleware) {
    this.#context = context;
    this.#parseBody = parseBody;
  }

  get method(): string {
    return this.#context.method;
  }

  get path(): string {
    return this.#context.path;
  }

  get query(): string {
    return this.#context.querystring;
  }

  get remoteAddress(): string | undefined {
    return this.#context.req.socket?.remoteAddress;
  }

  header(name: string): string | undefined {
    const { headers, headersDistinct } = this.#context.req;
    const value = headers[name];
    const sent = headersDistinct?.[name] ?? [];
    // Of some headers Node.js drops all but the first. Another value is one that the host has set.
    return sent.length > 1 && value === sent[0] ? sent.join(', ') : value?.toString();
  }

  onGone(listener: () => void): void {
    const { res } = this.#context;
    // No event comes any more if the client has already disconnected.
    if (res.closed || res.destroyed) listener();
    else res.once('close', listener);
  }

  onSent(listener: () => void): void {
    this.onGone(listener); // a response also closes when it is sent
  }

  onAuthenticated(principal: Principal): void {
    this.#context.state['principal'] = principal;
  }

  async readBody(limit: number): Promise<string> {
    const { req, res, request } = this.#context;
    delete req.headers['content-encoding']; // it is identity: the parser knows no other case
    const isSkipped = request.rawBody === undefined && !req.readableDidRead;
    if (isSkipped) request.body = undefined; // as the parser of the host left it
    try {
      await this.#parseBody(this.#context, async () => {});
    } catch (error) {
      const { type, body } = error as { readonly type?: unknown; readonly body?: unknown };
      if (typeof body === 'string') return body; // no JSON: the interface says why
      if (type === 'request.aborted') throw clientDisconnected();
      if (type !== 'entity.too.large') throw error;
      res.once('finish', () => req.resume()); // else the rest would hold the connection
      throw payloadTooLarge(limit);
    }
    const { rawBody } = request;
    if (typeof rawBody !== 'string') throw bodyAlreadyRead();
    if (Buffer.byteLength(rawBody) > limit) throw payloadTooLarge(limit);
    return rawBody;
  }
}

/**
 * koa-bodyparser for the bodies of an interface. It reads all types, because the interface checks the type. What it makes
 * of a body is not used, because it rounds integers.
 */
export const bodyParserOf = ({ settings }: HttpInterface): Middleware =>
  // Its types know no limit that is a number.
  bodyParser({ jsonLimit: settings.bodyLimit as never, detectJSON: () => true });
