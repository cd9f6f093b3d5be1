// A strict program that checks the declarations of all it depends on. Run in a project that has the package, and nothing
// else but the compiler.
import assert from 'node:assert/strict';
import { createAnimalStore, stringifyJson, type AnimalStore } from 'animal-store';
import { ApiKeyAuthenticator } from 'animal-store/api-keys';
import 'animal-store/bootstrap';
import { animalStoreClient } from 'animal-store/client';
import 'animal-store/contract';
import { createFetchHandler } from 'animal-store/fetch';
import { HttpInterface, Readiness } from 'animal-store/http';
import 'animal-store/koa';
import { openMemoryStore } from 'animal-store/memory';
import 'animal-store/mongodb';
import 'animal-store/node';
import { openSqliteStore } from 'animal-store/sqlite';

const apiKey = 'a-key-of-your-own';
const file = await openSqliteStore(`animals-of-node-${process.version}.db`);
for (const { pets, check, close } of [openMemoryStore(), file]) {
  const http = new HttpInterface({
    animalStore: createAnimalStore({ pets }),
    authenticator: new ApiKeyAuthenticator({ staticKeys: [apiKey] }),
    readiness: new Readiness(check),
  });
  const handle: (request: Request) => Promise<Response> = createFetchHandler(http);
  const client: AnimalStore = animalStoreClient({
    baseUrl: 'http://localhost/v1',
    apiKey,
    fetch: (...request) => handle(new Request(...request)),
  });
  const { pet } = await client.createPet({ name: 'Bella', categoryId: 2n ** 63n - 1n });
  assert.equal(stringifyJson([pet]), stringifyJson((await client.listPets()).pets));
  await close();
}
console.log(`types and calls agree on Node.js ${process.versions.node}`);
