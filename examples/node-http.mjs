// The animal store in your own server on node:http, below /v1. Your program responds everywhere else.
// With animal-store installed:
//   API_KEY=a-key-of-your-own node node-http.mjs
import { createServer } from 'node:http';
import { createAnimalStore } from 'animal-store';
import { ApiKeyAuthenticator } from 'animal-store/api-keys';
import { HttpInterface, Readiness } from 'animal-store/http';
import { openMemoryStore } from 'animal-store/memory';
import { createNodeListener } from 'animal-store/node';

const { pets, check } = openMemoryStore();
const animals = createNodeListener(
  new HttpInterface({
    animalStore: createAnimalStore({ pets }),
    authenticator: new ApiKeyAuthenticator({ staticKeys: [process.env.API_KEY] }),
    readiness: new Readiness(check),
  }),
);

const server = createServer((request, response) => {
  if (/^\/v1(?:\/|$)/.test(request.url)) return void animals(request, response);
  response.setHeader('Content-Type', 'text/plain');
  response.end('The shop. Its animals are at /v1/pets.\n');
});
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
