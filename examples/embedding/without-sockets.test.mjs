// A test of a program that calls the service, without any server: the client talks to the service's own answers.
// Run with: node --test
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnimalStore } from 'animal-store';
import { ApiKeyAuthenticator } from 'animal-store/api-keys';
import { AnimalStoreClient } from 'animal-store/client';
import { createFetchHandler } from 'animal-store/fetch';
import { HttpInterface, Readiness } from 'animal-store/http';
import { MemoryPetRepository } from 'animal-store/memory';

function serviceForTests() {
  const pets = new MemoryPetRepository();
  const handle = createFetchHandler(
    new HttpInterface({
      store: createAnimalStore({ pets }),
      authenticator: new ApiKeyAuthenticator({ staticKeys: ['key-for-tests'] }),
      readiness: new Readiness((call) => pets.check(call)),
    }),
  );
  return (url, init) => handle(new Request(url, init));
}

/** What is tested: it would be a module of its own. */
async function namesOnSale(store) {
  const names = [];
  for await (const { name } of store.allPets({ status: 'available' })) names.push(name);
  return names;
}

await test('only animals that are available are on sale', async () => {
  const store = new AnimalStoreClient({
    baseUrl: 'http://localhost/v1',
    apiKey: 'key-for-tests',
    fetch: serviceForTests(),
  });
  await store.createPet({ name: 'Bella', categoryId: 1 });
  await store.createPet({ name: 'Milo', categoryId: 1, status: 'sold' });
  assert.deepEqual(await namesOnSale(store), ['Bella']);
});
