// The animals by Hono on Node.js.
import * as animals from './animals.mjs';

const { Hono } = animals.load('hono');
const { serve } = animals.load('@hono/node-server');

const app = new Hono();
app.use(async (context, next) => {
  const began = performance.now();
  const id = animals.newRequestId();
  const { method, path } = context.req;
  const isAuthorized = animals.isAuthorized(context.req.header('authorization'));
  if (isAuthorized) await next();
  else context.res = context.json({ message: 'The API key is missing or wrong.' }, 401);
  for (const [name, value] of Object.entries(animals.commonHeaders(id, method))) context.header(name, value);
  animals.logResponse({
    requestId: id,
    method,
    path,
    operation: context.get('operation'),
    clientAddress: context.env.incoming.socket.remoteAddress,
    userAgent: context.req.header('user-agent'),
    status: context.res.status,
    bytes: context.get('bytes'),
    milliseconds: performance.now() - began,
  });
});

/** Responds with a text of JSON, or with 304 if the client has that already. */
function conditional(context, operation, value, headers = {}) {
  const text = JSON.stringify(value);
  const tag = animals.tagOf(text);
  context.set('operation', operation);
  context.set('bytes', Buffer.byteLength(text));
  const all = { 'Content-Type': 'application/json', ETag: tag, ...headers };
  return context.req.header('if-none-match') === tag
    ? context.body(null, 304, { ETag: tag, ...headers })
    : context.body(text, 200, all);
}

app.post('/v1/pets', async (context) => {
  const body = await context.req.json();
  if (!animals.isNewPet(body)) return context.json({ message: 'The animal is not valid.' }, 400);
  const created = animals.create(body);
  return context.json(created, 201, { Location: `/v1/pets/${created.id}` });
});
app.get('/v1/pets', (context) => {
  const query = animals.checkedQuery(context.req.query());
  if (query === undefined) return context.json({ message: 'The query is not valid.' }, 400);
  const { pets, link } = animals.list(query);
  return conditional(context, 'listPets', pets, link && { Link: link });
});
app.get('/v1/pets/:petId', (context) => {
  const found = animals.find(Number(context.req.param('petId')));
  if (found === undefined) return context.json({ message: 'There is no such animal.' }, 404);
  return conditional(context, 'getPet', found, animals.deprecation);
});

const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  animals.isListening(port),
);
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
