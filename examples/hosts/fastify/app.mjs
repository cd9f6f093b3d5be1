// The animal store in a Fastify application, below a prefix. It responds by itself; Fastify's hooks run before.
import { createNodeListener } from 'animal-store/node';
import fastify from 'fastify';

export const MOUNT_PATH = '/shop';

/** The animal store as a plugin: its content type parser is not that of the rest of the application. */
export async function animals(app, { http }) {
  const listener = createNodeListener(http);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null)); // leaves the body to the animal store
  app.all('/*', (request, reply) => {
    const { prefix } = app;
    request.raw.originalUrl = request.raw.url;
    request.raw.url = request.raw.url.slice(prefix.length);
    reply.hijack();
    return listener(request.raw, reply.raw);
  });
}

/** Starts the application. `before` are hooks of yours that run earlier. */
export async function listen(http, { port = 0, path = MOUNT_PATH, before = [] } = {}) {
  const app = fastify();
  for (const hook of before) app.addHook('onRequest', hook);
  await app.register(animals, { prefix: path, http });
  app.get('/hours', () => ({ open: '9:00', close: '18:00' }));
  await app.listen({ port, host: '127.0.0.1' });
  return app.server;
}
