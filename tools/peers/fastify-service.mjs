// The animals by Fastify, with schemas for parameters, bodies and responses. With BARE=1: without the equipment.
import * as animals from './animals.mjs';

const Fastify = animals.load('fastify');

const status = { type: 'string', enum: ['available', 'pending', 'sold'] };
const pet = {
  type: 'object',
  required: ['id', 'name', 'categoryId', 'status'],
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    categoryId: { type: 'integer' },
    status,
  },
};
const newPet = {
  type: 'object',
  required: ['name', 'categoryId'],
  properties: {
    name: { type: 'string', pattern: '\\S' },
    categoryId: { type: 'integer' },
    status: { ...status, default: 'available' },
  },
};
const page = {
  type: 'object',
  properties: {
    status,
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    cursor: { type: 'integer', minimum: 0, default: 0 },
  },
};

/** Equips the server as the service is. */
function equip(app) {
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

const app = Fastify({ logger: false, genReqId: animals.newRequestId });
if (!animals.isBare) equip(app);
app.post(
  '/v1/pets',
  { schema: { body: newPet, response: { 201: pet } } },
  async ({ body }, reply) => {
    const created = animals.create(body);
    reply.code(201).header('Location', `/v1/pets/${created.id}`);
    return created;
  },
);
const listing = { querystring: page, response: { 200: { type: 'array', items: pet } } };
app.get('/v1/pets', { schema: listing }, async ({ query }, reply) => {
  const { pets, link } = animals.list(query);
  if (link) reply.header('Link', link);
  return pets;
});
const getting = {
  params: { type: 'object', properties: { petId: { type: 'integer', minimum: 1 } } },
  response: { 200: pet },
};
app.get('/v1/pets/:petId', { schema: getting }, async ({ params }, reply) => {
  const found = animals.find(params.petId);
  if (found === undefined) reply.code(404);
  if (!animals.isBare) reply.headers(animals.deprecation);
  return found ?? { message: 'There is no such animal.' };
});

process.on('SIGTERM', () => void app.close());
await app.listen({ host: '127.0.0.1', port: 0 });
animals.isListening(app.server.address().port);
