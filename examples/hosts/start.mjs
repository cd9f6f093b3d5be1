// Starts the animal store in a host (node-http by default, koa, express, fastify, hono), with animals in memory:
//   (cd ../.. && npm pack) && npm install ../../animal-store-*.tgz
//   API_KEY=a-key-of-your-own PORT=8080 node start.mjs express
import { once } from 'node:events';
import process from 'node:process';
import { createAnimalStore } from 'animal-store';
import { ApiKeyAuthenticator } from 'animal-store/api-keys';
import { HttpInterface, Readiness } from 'animal-store/http';
import { openMemoryStore } from 'animal-store/memory';

if (!process.env.API_KEY) throw new Error('Set API_KEY.');
const [, , host = 'node-http'] = process.argv;
// Each host exports `listen(http, port, animalStore)`, and the `PREFIX` that it serves below, if it has one.
const { listen, PREFIX = '' } = await import(`./${host}.mjs`);

const { pets, check } = openMemoryStore();
const animalStore = createAnimalStore({ pets });
const http = new HttpInterface({
  animalStore,
  authenticator: new ApiKeyAuthenticator({ staticKeys: [process.env.API_KEY] }),
  readiness: new Readiness(check),
  // Below a prefix, say where clients find it: settings: { publicUrl: 'https://shop.example.org/shop/v1' }
});
const server = await listen(http, Number(process.env.PORT ?? 8080), animalStore);
if (!server.listening) await once(server, 'listening');
console.log(`http://127.0.0.1:${server.address().port}${PREFIX}/v1`);
