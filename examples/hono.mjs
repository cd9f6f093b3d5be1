// The animal store in a Hono application, below a prefix. Link and Location have the prefix because the base path has
// it. (Where a framework strips the prefix, keep the base path and set publicUrl.)
// With animal-store, @hono/node-server and hono installed:
//   API_KEY=a-key-of-your-own node hono.mjs
import { serve } from '@hono/node-server';
import { createAnimalStore } from 'animal-store';
import { ApiKeyAuthenticator } from 'animal-store/api-keys';
import { createFetchHandler } from 'animal-store/fetch';
import { HttpInterface, Readiness } from 'animal-store/http';
import { openMemoryStore } from 'animal-store/memory';
import { Hono } from 'hono';

const { pets } = openMemoryStore();
const http = new HttpInterface({
  animalStore: createAnimalStore({ pets }),
  authenticator: new ApiKeyAuthenticator({ staticKeys: [process.env.API_KEY] }),
  readiness: new Readiness((call) => pets.check(call)),
  settings: { basePath: '/shop/v1' },
});
const animals = createFetchHandler(http);

const app = new Hono();
app.get('/', (context) => context.text('The shop. Its animals are at /shop/v1/pets.\n'));
app.all('/shop/v1/*', (context) => animals(context.req.raw));

const port = Number(process.env.PORT ?? 8080);
serve({ fetch: app.fetch, hostname: '127.0.0.1', port, overrideGlobalObjects: false }, (address) => {
  console.log(`http://127.0.0.1:${address.port}`);
});
