// The animals by Hono on @hono/node-server, equipped as the service is.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import * as animals from './animals.mjs';

const app = new Hono();

app.use(async (context, next) => {
  const { incoming, outgoing } = context.env;
  if (animals.equip(incoming, outgoing, () => context.req.routePath)) return next();
  return context.json({ message: 'The API key is missing or wrong.' }, 401);
});

/** Sends a value, or 304. */
function send(context, status, value) {
  const body = JSON.stringify(value);
  if (context.req.method === 'GET') {
    const tag = animals.tagOf(body);
    context.header('ETag', tag);
    if (context.req.header('if-none-match') === tag) return context.body(null, 304);
  }
  const length = String(Buffer.byteLength(body));
  return context.body(body, status, {
    'Content-Type': 'application/json',
    'Content-Length': length,
  });
}

const refuse = (message) => {
  throw new HTTPException(400, { message });
};

app.post('/v1/pets', async (context) => {
  const body = await context.req.json();
  if (!animals.isNewPet(body)) refuse('The animal is not valid.');
  const created = animals.create(body);
  context.header('Location', `/v1/pets/${created.id}`);
  return send(context, 201, created);
});
app.get('/v1/pets', (context) => {
  const page = animals.pageOf(context.req.query());
  if (page === undefined) refuse('The query is not valid.');
  const { pets, link } = animals.list(page);
  if (link) context.header('Link', link);
  return send(context, 200, pets);
});
app.get('/v1/pets/:petId', (context) => {
  const found = animals.find(context.req.param('petId'));
  if (found === undefined) return context.json({ message: 'There is no such animal.' }, 404);
  for (const [name, value] of Object.entries(animals.deprecation)) context.header(name, value);
  return send(context, 200, found);
});

const options = { fetch: app.fetch, hostname: '127.0.0.1', port: 0 };
const server = serve(options, () => animals.announce(server));
