import * as animals from './animals.mjs';

/** Options of a Fastify server that is equipped as the service is. */
export const OPTIONS = { logger: false, genReqId: animals.newRequestId };

/** Equips a Fastify server as the service is. */
export function equip(app) {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(animals.commonHeaders(request.id, request.method));
    if (animals.isAuthorized(request.headers.authorization)) return undefined;
    return reply.code(401).send({ message: 'The API key is missing or wrong.' });
  });
  app.addHook('onSend', async (request, reply, body) => {
    if (request.method !== 'GET') return;
    const tag = animals.tagOf(body);
    reply.header('ETag', tag);
    if (request.headers['if-none-match'] === tag) reply.code(304);
  });
  app.addHook('onResponse', async ({ id, method, url, ip, headers, routeOptions }, reply) => {
    animals.logResponse({
      requestId: id,
      method,
      path: url.split('?', 1)[0],
      operation: routeOptions.url,
      clientAddress: ip,
      userAgent: headers['user-agent'],
      status: reply.statusCode,
      bytes: Number(reply.getHeader('content-length')),
      milliseconds: reply.elapsedTime,
    });
  });
}
