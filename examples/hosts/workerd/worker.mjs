// The animal store as a Cloudflare Worker. Its animals are in memory: each isolate has its own, and loses them.
//   API_KEY=a-key-of-your-own npm start
import { env } from 'cloudflare:workers';
import { createAnimalStore } from 'animal-store';
import { createFetchHandler } from 'animal-store/fetch';
import { HttpInterface, Readiness } from 'animal-store/http';
import { openMemoryStore } from 'animal-store/memory';
import { WebCryptoKeys } from './web-crypto-keys.mjs';

const { pets, check } = openMemoryStore();
const http = new HttpInterface({
  animalStore: createAnimalStore({ pets }),
  authenticator: new WebCryptoKeys([
    { key: env.API_KEY, keyId: 'shop', scopes: ['pets:read', 'pets:write'] },
  ]),
  readiness: new Readiness(check),
});
const animals = createFetchHandler(http);

export default { fetch: (request) => animals(request) };
