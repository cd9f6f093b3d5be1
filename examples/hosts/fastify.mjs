// The animal store in a Fastify application of yours, below a prefix. It responds by itself; Fastify's hooks run before.
// (transports/fastify runs the whole interface on Fastify instead.)
import { createNodeListener } from 'animal-store/node';
import fastify from 'fastify';

export const PREFIX = '/shop';

/** The prefix in a request target, which may be a whole URL. */
const PREFIX_IN_TARGET = new RegExp(`^(\\w+://[^/]+)?${PREFIX}`);

/** A plugin, so that the rest of the application keeps its content type parsers. */
async function animals(app, { http }) {
  const listener = createNodeListener(http);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null)); // the animal store reads the body
  app.all('/*', (request, reply) => {
    request.raw.url = request.raw.url.replace(PREFIX_IN_TARGET, '$1');
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
