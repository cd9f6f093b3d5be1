import bodyParser from 'koa-bodyparser';
import type { Context, Middleware } from 'koa';
import { clientGone, payloadTooLarge } from '../http-error.js';
import { NodeRequest } from '../node/node-request.js';

/** A Koa request as the interface needs it: that of Node.js, its body read by koa-bodyparser. */
export class KoaRequest extends NodeRequest {
  readonly #context: Context;
  readonly #bodyReader: Middleware;

  constructor(context: Context, bodyReader: Middleware, bodyLimit: number) {
    super(context.req, context.res, bodyLimit);
    this.#context = context;
    this.#bodyReader = bodyReader;
  }

  override async readBody(): Promise<Uint8Array> {
    const context = this.#context;
    // koa-bodyparser leaves alone, or refuses, what it does not know; what this is was judged before.
    context.req.headers['content-type'] = 'application/json';
    delete context.req.headers['content-encoding'];
    try {
      await this.#bodyReader(context, async () => {});
    } catch (error) {
      throw bodyError(error);
    }
    const { body } = context.request;
    return body instanceof Uint8Array ? body : new Uint8Array();
  }
}

/**
 * koa-bodyparser, to read at most `limit` bytes and nothing else: as text without an encoding it gives the
 * bytes, which the interface decodes and parses by itself, strictly. (Its types do not know `encoding`.)
 */
export function bodyReader(limit: number): Middleware {
  const options = {
    enableTypes: ['text'],
    extendTypes: { text: ['application/json'] },
    textLimit: limit,
    encoding: null,
  };
  return bodyParser(options as unknown as bodyParser.Options);
}

function bodyError(error: unknown): unknown {
  const { type, limit } = error as { type?: unknown; limit?: unknown };
  switch (type) {
    case 'entity.too.large':
      return payloadTooLarge(Number(limit));
    case 'request.aborted':
      return clientGone();
    default:
      return error;
  }
}
