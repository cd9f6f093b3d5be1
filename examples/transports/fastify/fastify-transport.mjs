import { createRouteFinder } from 'animal-store/http';
import { NodeRequest } from 'animal-store/node';
import fastify from 'fastify';

/**
 * The animal store as a Fastify application. It is answered in the first hook: behind it Fastify would decode
 * paths, judge media types and read bodies by rules of its own.
 */
export function createFastifyApp(http) {
  const findRoute = createRouteFinder(http.routes);
  const app = fastify({ frameworkErrors: (_error, request, reply) => answer(request, reply) });
  app.addHook('onRequest', answer);
  app.setNotFoundHandler(() => {}); // no path is Fastify's, so every request gets to the hook
  return app;

  async function answer(request, reply) {
    const sent = new NodeRequest(request.raw, reply.raw, http.settings.bodyLimit);
    const found = findRoute(sent.path);
    const { status, headers, body } = await http.answer(sent, found?.route, found?.parameters ?? {});
    reply.code(status).headers(headers);
    return reply.send(status === 204 || status === 304 ? undefined : body);
  }
}

/** The same as a request listener: for a server of `animal-store/node`, or as `TOKENS.requestListener`. */
export async function fastifyListener(http) {
  const app = createFastifyApp(http);
  await app.ready();
  return (request, response) => app.routing(request, response);
}
