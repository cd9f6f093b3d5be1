import { once } from 'node:events';
import bodyParser from 'koa-bodyparser';
import type { Context, Middleware } from 'koa';
import { clientGone, payloadTooLarge } from '../http-error.js';
import type { HttpRequest } from '../http-message.js';
import { splitRequestTarget } from '../request-target.js';

/** A Koa request as the interface needs it. Headers are read raw: Node's `headers` drops repeated ones. */
export class KoaRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #context: Context;
  readonly #bodyReader: Middleware;

  constructor(context: Context, bodyReader: Middleware) {
    const { method = '', url = '' } = context.req;
    const { path, query } = splitRequestTarget(url);
    this.method = method;
    this.path = path;
    this.query = query;
    this.#context = context;
    this.#bodyReader = bodyReader;
  }

  header(name: string): string | undefined {
    const values = this.#values(name);
    return values.length > 1 ? values.join(', ') : values[0];
  }

  isRepeated(name: string): boolean {
    return this.#values(name).length > 1;
  }

  get announcesBody(): boolean {
    const length = this.header('content-length');
    return length === undefined ? this.header('transfer-encoding') !== undefined : !/^0*$/.test(length);
  }

  async hasBody(): Promise<boolean> {
    const { req } = this.#context;
    // A length says it; who waits for "100 Continue" means to send something, and is not to be told to.
    if (this.header('content-length') !== undefined || this.header('expect') !== undefined) return true;
    if (req.readableLength === 0 && !req.complete)
      await Promise.race([once(req, 'readable'), once(req, 'close')]);
    return req.readableLength > 0;
  }

  async readBody(): Promise<Uint8Array> {
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

  onGone(listener: () => void): void {
    const { res } = this.#context;
    // Also when the server has answered in the listener's place: a body that is no chunks ends in no other way.
    res.once('close', listener);
  }

  #values(name: string): string[] {
    const { rawHeaders } = this.#context.req;
    const values: string[] = [];
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const sent = rawHeaders[index] ?? '';
      if (sent.length === name.length && sent.toLowerCase() === name)
        values.push(rawHeaders[index + 1] ?? '');
    }
    return values;
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
