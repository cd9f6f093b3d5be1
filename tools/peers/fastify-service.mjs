// The animals by Fastify, with schemas for parameters, bodies and responses, equipped as the service is.
import Fastify from 'fastify';
import * as animals from './animals.mjs';

const status = { type: 'string', enum: animals.STATUSES };
const integer = { type: 'integer' };
const pet = {
  type: 'object',
  required: ['id', 'name', 'categoryId', 'status'],
  properties: { id: integer, name: { type: 'string' }, categoryId: integer, status },
};
const newPet = {
  type: 'object',
  required: ['name', 'categoryId'],
  properties: {
    name: { type: 'string', pattern: '\\S' },
    categoryId: integer,
    status: { ...status, default: 'available' },
  },
};
const page = {
  type: 'object',
  properties: {
    status,
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    after: { type: 'integer', minimum: 0, default: 0 },
  },
};
const one = { type: 'object', properties: { petId: { type: 'integer', minimum: 1 } } };

const app = Fastify();

app.addHook('onRequest', async (request, reply) => {
  if (animals.equip(request.raw, reply.raw, () => request.routeOptions.url)) return undefined;
  return reply.code(401).send({ message: 'The API key is missing or wrong.' });
});
app.addHook('onSend', async (request, reply, body) => {
  if (request.method !== 'GET') return;
  const tag = animals.tagOf(body);
  reply.header('ETag', tag);
  if (request.headers['if-none-match'] === tag) reply.code(304);
});

const creating = { schema: { body: newPet, response: { 201: pet } } };
app.post('/v1/pets', creating, async ({ body }, reply) => {
  const created = animals.create(body);
  reply.code(201).header('Location', `/v1/pets/${created.id}`);
  return created;
});
const listing = { schema: { querystring: page, response: { 200: { type: 'array', items: pet } } } };
app.get('/v1/pets', listing, async ({ query }, reply) => {
  const { pets, link } = animals.list(query);
  if (link) reply.header('Link', link);
  return pets;
});
const getting = { schema: { params: one, response: { 200: pet } } };
app.get('/v1/pets/:petId', getting, async ({ params }, reply) => {
  const found = animals.find(params.petId);
  if (found === undefined) reply.code(404);
  reply.headers(animals.deprecation);
  return found ?? { message: 'There is no such animal.' };
});

await app.listen({ host: '127.0.0.1', port: 0 });
animals.announce(app.server);
