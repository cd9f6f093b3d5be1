import { NodeRequest } from 'animal-store/node';
import fastify from 'fastify';

/**
 * The animal store as a Fastify application: a transport in place of Koa. (hosts/fastify.mjs mounts it in an application
 * of yours.) It responds in the first hook: later Fastify would decode paths, check media types and read bodies by its own
 * rules.
 */
export function createFastifyApp(http) {
  const app = fastify({ frameworkErrors: (_error, request, reply) => respond(request, reply) });
  app.addHook('onRequest', respond);
  app.setNotFoundHandler(() => {}); // Fastify knows no path, so the hook gets every request
  return app;

  async function respond(request, reply) {
    const sent = new NodeRequest(request.raw, reply.raw);
    const { status, headers, body } = await http.handle(sent);
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
