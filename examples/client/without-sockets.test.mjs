// Tests a program that calls the service, without a server: the client calls the fetch handler directly.
// Run with: node --test
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnimalStore } from 'animal-store';
import { ApiKeyAuthenticator } from 'animal-store/api-keys';
import { animalStoreClient } from 'animal-store/client';
import { createFetchHandler } from 'animal-store/fetch';
import { HttpInterface, Readiness } from 'animal-store/http';
import { openMemoryStore } from 'animal-store/memory';

function serviceForTests() {
  const { pets, check } = openMemoryStore();
  const handle = createFetchHandler(
    new HttpInterface({
      animalStore: createAnimalStore({ pets }),
      authenticator: new ApiKeyAuthenticator({ staticKeys: ['key-for-tests'] }),
      readiness: new Readiness(check),
    }),
  );
  return (url, init) => handle(new Request(url, init));
}

/** The program under test; usually a module of its own. */
async function namesOnSale(animals) {
  const names = [];
  for await (const { name } of animals.allPets({ status: 'available' })) names.push(name);
  return names;
}

await test('only animals that are available are on sale', async () => {
  const animals = animalStoreClient({
    baseUrl: 'http://localhost/v1',
    apiKey: 'key-for-tests',
    fetch: serviceForTests(),
  });
  await animals.createPet({ name: 'Bella', categoryId: 1 });
  await animals.createPet({ name: 'Milo', categoryId: 1, status: 'sold' });
  assert.deepEqual(await namesOnSale(animals), ['Bella']);
});
