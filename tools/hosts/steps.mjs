// What hosts do before the animal store: a slow step, and their usual parsers of bodies, by kind of host.
import { setTimeout as delay } from 'node:timers/promises';

const slow = () => delay(20);
const bytesOf = async (stream) => Buffer.concat(await Array.fromAsync(stream));

/** Middlewares of node:http: `(request, response, next)`. */
const connect = { slow: (_request, _response, next) => void setTimeout(() => next(), 20) };

const koaStep = (step) => async (context, next) => {
  await step(context);
  await next();
};

const keep = (request, bytes) => {
  request.rawBody = bytes;
};

const keepBytes = (request, body, done) => {
  keep(request.raw, body);
  done(null, JSON.parse(body));
};

/**
 * By kind of host. A step is the host's middleware, or an object: its `listen` replaces that of the example, its
 * `options` are passed to it.
 */
export const STEPS = {
  nest: () => ({
    ...connect,
    rawBody: { options: { nest: { rawBody: true } } },
    noRawBody: { options: { nest: {} } },
  }),
  async express() {
    const { default: express } = await import('express');
    return {
      ...connect,
      bytes: express.json({ verify: (request, _response, buffer) => keep(request, buffer) }),
      text: express.json({
        verify: (request, _response, buffer) => keep(request, buffer.toString()),
      }),
      raw: express.raw({ type: () => true }),
      parsed: express.json(),
    };
  },
  koa: () => ({
    // Koa prints faults by default.
    quiet: koaStep(({ app }) => {
      app.silent = true;
    }),
    slow: koaStep(slow),
    bytes: koaStep(async ({ req, request }) => keep(request, await bytesOf(req))),
    parsed: koaStep(async ({ req, request }) => {
      request.body = JSON.parse(await bytesOf(req));
    }),
  }),
  async fastify() {
    const { default: fastify } = await import('fastify');
    const { createNodeListener } = await import('animal-store/node');
    /** With the application's own parsers, which an example must not have. */
    const parsing = (prepare) => ({
      async listen(http, { path }) {
        const app = fastify();
        const listener = createNodeListener(http);
        prepare(app);
        app.all('/*', (request, reply) => {
          request.raw.originalUrl = request.raw.url;
          request.raw.url = request.raw.url.slice(path.length);
          reply.hijack();
          return listener(request.raw, reply.raw);
        });
        await app.listen({ port: 0, host: '127.0.0.1' });
        return app.server;
      },
    });
    return {
      slow,
      bytes: parsing((app) =>
        app.addContentTypeParser('application/json', { parseAs: 'buffer' }, keepBytes),
      ),
      parsed: parsing(() => {}),
    };
  },
  hono: () => ({
    async slow(_context, next) {
      await slow();
      await next();
    },
    async parsed(context, next) {
      await context.req.json();
      await next();
    },
  }),
  h3: () => ({
    slow,
    async parsed(event) {
      await event.req.json();
    },
  }),
  /** Functions of the request alone. */
  fetch: () => ({
    slow,
    parsed: (request) => (request.method === 'POST' ? request.json() : undefined),
  }),
};
