// The animal store on a runtime that serves Fetch handlers: in memory, or in the file that ANIMALS_FILE names if the
// runtime has node:sqlite.
//   API_KEY=a-key-of-your-own bun examples/fetch-server.mjs
//   API_KEY=a-key-of-your-own deno serve --allow-env --host 127.0.0.1 --port 8080 examples/fetch-server.mjs
import process from 'node:process';
import { createAnimalStore } from 'animal-store';
import { ApiKeyAuthenticator } from 'animal-store/api-keys';
import { createFetchHandler } from 'animal-store/fetch';
import { HttpInterface, Readiness } from 'animal-store/http';

const { API_KEY, ANIMALS_FILE, PORT = '8080' } = process.env;

const pets = ANIMALS_FILE ? await animalsInFile(ANIMALS_FILE) : await animalsInMemory();
const http = new HttpInterface({
  animalStore: createAnimalStore({ pets }),
  authenticator: new ApiKeyAuthenticator({ staticKeys: [API_KEY] }),
  readiness: new Readiness((call) => pets.check(call)),
});

export default { fetch: createFetchHandler(http), hostname: '127.0.0.1', port: Number(PORT) };

async function animalsInMemory() {
  const { openMemoryStore } = await import('animal-store/memory');
  return openMemoryStore().pets;
}

async function animalsInFile(file) {
  const { openSqliteStore } = await import('animal-store/sqlite');
  return (await openSqliteStore(file)).pets;
}
