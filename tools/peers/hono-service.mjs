// The animals by Hono on @hono/node-server, equipped as the service is.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import * as animals from './animals.mjs';

const app = new Hono();

app.use(async (context, next) => {
  const began = performance.now();
  const { incoming, outgoing } = context.env;
  const requestId = animals.newRequestId();
  outgoing.once('finish', () => {
    const operation = context.req.routePath;
    animals.logResponse(incoming, outgoing, { requestId, operation, began });
  });
  for (const [name, value] of Object.entries(animals.commonHeaders(requestId, context.req.method)))
    context.header(name, value);
  if (!animals.isAuthorized(context.req.header('authorization')))
    return context.json({ message: 'The API key is missing or wrong.' }, 401);
  return next();
});

/** Sends a body that was read, or 304. */
function send(context, body) {
  const text = JSON.stringify(body);
  const tag = animals.tagOf(text);
  context.header('ETag', tag);
  if (context.req.header('if-none-match') === tag) return context.body(null, 304);
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(text)),
  };
  return context.body(text, 200, headers);
}

const refuse = (message) => {
  throw new HTTPException(400, { message });
};

app.post('/v1/pets', async (context) => {
  const body = await context.req.json();
  if (!animals.isNewPet(body)) refuse('The animal is not valid.');
  const created = animals.create(body);
  context.header('Location', `/v1/pets/${created.id}`);
  const text = JSON.stringify(created);
  context.header('Content-Length', String(Buffer.byteLength(text)));
  return context.body(text, 201, { 'Content-Type': 'application/json' });
});
app.get('/v1/pets', (context) => {
  const page = animals.pageOf(context.req.query());
  if (page === undefined) refuse('The query is not valid.');
  const { pets, link } = animals.list(page);
  if (link) context.header('Link', link);
  return send(context, pets);
});
app.get('/v1/pets/:petId', (context) => {
  const found = animals.find(context.req.param('petId'));
  if (found === undefined) return context.json({ message: 'There is no such animal.' }, 404);
  for (const [name, value] of Object.entries(animals.deprecation)) context.header(name, value);
  return send(context, found);
});

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  animals.announce(port),
);
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
