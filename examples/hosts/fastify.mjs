// The animal store in a Fastify application, below a prefix. It responds by itself; Fastify's hooks run before.
import { createNodeListener } from 'animal-store/node';
import fastify from 'fastify';

export const PREFIX = '/shop';

/** A plugin: its content type parser is not that of the rest of the application. */
async function animals(app, { http }) {
  const listener = createNodeListener(http);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null)); // leaves the body to the animal store
  app.all('/*', (request, reply) => {
    request.raw.url = request.raw.url.slice(PREFIX.length);
    reply.hijack();
    listener(request.raw, reply.raw);
  });
}

export async function listen(http, port) {
  const app = fastify();
  await app.register(animals, { prefix: PREFIX, http });
  app.get('/hours', () => ({ open: '9:00', close: '18:00' }));
  await app.listen({ port, host: '127.0.0.1' });
  return app.server;
}
