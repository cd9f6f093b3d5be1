// The animal store as a module that Bun and Deno can serve, with animals in memory:
//   API_KEY=a-key-of-your-own bun bun-deno.mjs
//   API_KEY=a-key-of-your-own deno serve --allow-env --allow-read bun-deno.mjs
import process from 'node:process';
import { createAnimalStore } from 'animal-store';
import { ApiKeyAuthenticator } from 'animal-store/api-keys';
import { createFetchHandler } from 'animal-store/fetch';
import { HttpInterface, Readiness } from 'animal-store/http';
import { openMemoryStore } from 'animal-store/memory';

if (!process.env.API_KEY) throw new Error('Set API_KEY.');
const { pets, check } = openMemoryStore();
const http = new HttpInterface({
  animalStore: createAnimalStore({ pets }),
  authenticator: new ApiKeyAuthenticator({ staticKeys: [process.env.API_KEY] }),
  readiness: new Readiness(check),
});

export default { fetch: createFetchHandler(http) };
