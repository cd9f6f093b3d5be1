// The animal store within a server of your own on node:http: it answers below /v1, the program everything else.
// With animal-store, @hono/node-server and hono installed beside it:
//   API_KEY=a-key-of-your-own node node-http.mjs
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server'; // from Node's requests to Fetch's, and back
import { createAnimalStore } from 'animal-store';
import { ApiKeyAuthenticator } from 'animal-store/api-keys';
import { createFetchHandler } from 'animal-store/fetch';
import { HttpInterface, Readiness } from 'animal-store/http';
import { MemoryPetRepository } from 'animal-store/memory';

const pets = new MemoryPetRepository();
const http = new HttpInterface({
  store: createAnimalStore({ pets }),
  authenticator: new ApiKeyAuthenticator({ staticKeys: [process.env.API_KEY] }),
  readiness: new Readiness((call) => pets.check(call)),
});
const animals = getRequestListener(createFetchHandler(http), { overrideGlobalObjects: false });

const server = createServer((request, response) => {
  if (/^\/v1(?:\/|$)/.test(request.url)) return void animals(request, response);
  response.setHeader('Content-Type', 'text/plain');
  response.end('The shop. Its animals are at /v1/pets.\n');
});
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
