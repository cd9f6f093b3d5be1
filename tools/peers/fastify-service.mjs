// The animals' three operations by Fastify over node:sqlite, equipped as the service is, for `npm run measure`: a
// static key compared by its hash, schemas for parameters, bodies and answers, a page's link, request ids, ETags, a log
// line for each request, every create durable once it is answered. What the service has beside it is left out here
// (integers beyond 2^53, idempotency keys, bounds on connections, deadlines), so the comparison favours Fastify.
// With BARE=1 it has none of that either: no key, no log, no header beyond Fastify's own.
// Usage: node fastify-service.mjs, with PORT, API_KEYS and STORE_URL=sqlite:PATH in the environment.
import { createHash, hash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createRequire } from 'node:module';
import { DatabaseSync } from 'node:sqlite';

const Fastify = createRequire(new URL('./package.json', import.meta.url))('fastify');

const { PORT, API_KEYS, STORE_URL, BARE } = process.env;
const digest = (key) => createHash('sha256').update(key).digest();
const expected = digest(API_KEYS);

const database = new DatabaseSync(STORE_URL.slice('sqlite:'.length));
database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE pets (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, category_id INTEGER NOT NULL,
    status TEXT NOT NULL) STRICT;
  CREATE INDEX pets_by_status ON pets (status, id)`);
const COLUMNS = 'id, name, category_id AS categoryId, status';
const insert = database.prepare('INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)');
const find = database.prepare(`SELECT ${COLUMNS} FROM pets WHERE id = ?`);
const list = database.prepare(`SELECT ${COLUMNS} FROM pets WHERE id > ? ORDER BY id LIMIT +?`);
const listByStatus = database.prepare(
  `SELECT ${COLUMNS} FROM pets WHERE status = ? AND id > ? ORDER BY id LIMIT +?`,
);

const status = { type: 'string', enum: ['available', 'pending', 'sold'] };
const pet = {
  type: 'object',
  required: ['id', 'name', 'categoryId', 'status'],
  properties: { id: { type: 'integer' }, name: { type: 'string' }, categoryId: { type: 'integer' }, status },
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

const app = Fastify({
  logger: BARE ? false : { level: 'info', stream: process.stderr },
  disableRequestLogging: true,
  genReqId: () => randomUUID(),
});

if (!BARE) equip();

function equip() {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('X-Request-Id', request.id);
    reply.header('X-Content-Type-Options', 'nosniff');
    const [scheme, key] = request.headers.authorization?.split(' ') ?? [];
    if (scheme === 'Bearer' && key !== undefined && timingSafeEqual(digest(key), expected)) return;
    reply.code(401);
    throw new Error('The API key is missing or wrong.');
  });
  app.addHook('onSend', async (request, reply, body) => {
    if (request.method !== 'GET') {
      reply.header('Cache-Control', 'no-store');
      return;
    }
    reply.header('Cache-Control', 'private, no-cache');
    const tag = `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
    reply.header('ETag', tag);
    if (request.headers['if-none-match'] === tag) reply.code(304);
  });
  app.addHook('onResponse', async ({ id, method, url, ip, headers, routeOptions }, reply) => {
    const [path] = url.split('?', 1);
    app.log.info(
      {
        requestId: id,
        method,
        path,
        operation: routeOptions.url,
        clientAddress: ip,
        userAgent: headers['user-agent'],
        keyId: 'static',
        status: reply.statusCode,
        bytes: Number(reply.getHeader('content-length')),
        milliseconds: reply.elapsedTime,
      },
      'responded',
    );
  });
}

app.post('/v1/pets', { schema: { body: newPet, response: { 201: pet } } }, async ({ body }, reply) => {
  const { lastInsertRowid: id } = insert.run(body.name, body.categoryId, body.status);
  reply.code(201).header('Location', `/v1/pets/${id}`);
  return { id, ...body };
});
const listing = { querystring: page, response: { 200: { type: 'array', items: pet } } };
app.get('/v1/pets', { schema: listing }, async ({ query }, reply) => {
  const { limit, cursor } = query;
  const pets = query.status ? listByStatus.all(query.status, cursor, limit + 1) : list.all(cursor, limit + 1);
  if (pets.length <= limit) return pets;
  pets.pop();
  const filter = query.status ? `status=${query.status}&` : '';
  reply.header('Link', `</v1/pets?${filter}limit=${limit}&cursor=${pets.at(-1).id}>; rel="next"`);
  return pets;
});
const getting = {
  params: { type: 'object', properties: { petId: { type: 'integer', minimum: 1 } } },
  response: { 200: pet },
};
app.get('/v1/pets/:petId', { schema: getting }, async ({ params }, reply) => {
  const found = find.get(params.petId);
  if (found === undefined) reply.code(404);
  if (!BARE) {
    reply.header('Deprecation', '@1795132800').header('Sunset', 'Thu, 05 Dec 2030 00:00:00 GMT');
    reply.header('Link', '</v1/pets?status=available>; rel="successor-version"');
  }
  return found ?? { message: 'There is no such animal.' };
});

process.on('SIGTERM', () => void app.close());
const url = await app.listen({ host: '127.0.0.1', port: Number(PORT) });
process.stderr.write(`${JSON.stringify({ url: `${url}/v1` })}\n`);
