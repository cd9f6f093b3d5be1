// A few lines of each entry, as a strict program that checks the declarations of all it depends on sees them. Run in
// a project that has the package, and nothing else but the compiler. Argument: a file for a store.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createAnimalStore,
  parseJson,
  PetNotFoundError,
  stringifyJson,
  type AnimalStore,
  type Pet,
} from 'animal-store';
import { ApiKeyAuthenticator, ManagedApiKeys, apiKeyGenerator } from 'animal-store/api-keys';
import { createContainer, readSettings, startService, type Service } from 'animal-store/bootstrap';
import { AnimalStoreClient } from 'animal-store/client';
import { petRepositoryTests } from 'animal-store/contract';
import { createFetchHandler } from 'animal-store/fetch';
import { HttpInterface, loadOpenApiDocument, Readiness } from 'animal-store/http';
import { animalStoreRouter, createKoaApp } from 'animal-store/koa';
import { openMemoryStore } from 'animal-store/memory';
import { openMongoStore } from 'animal-store/mongodb';
import { createNodeListener, NodeServer, readDocsFiles } from 'animal-store/node';
import { openSqliteStore } from 'animal-store/sqlite';

const BELLA = '{"id":1,"name":"Bella","categoryId":9223372036854775807,"status":"available"}';
const animal = { name: 'Bella', categoryId: 2n ** 63n - 1n };

// animal-store, /memory, /sqlite
const { pets, apiKeys, check } = openMemoryStore();
const store: AnimalStore = createAnimalStore({ pets });
const { pet }: { pet: Pet } = await store.createPet(animal);
assert.equal(stringifyJson(pet), BELLA);
assert.equal((parseJson(BELLA) as { categoryId: unknown }).categoryId, pet.categoryId);
const missing: unknown = await store.getPet(2n).catch((error: unknown) => error);
assert.ok(missing instanceof PetNotFoundError);
const file = await openSqliteStore(process.argv[2] ?? '');
const onDisk = createAnimalStore({ pets: file.pets });
await onDisk.createPet(animal);
assert.equal(stringifyJson((await onDisk.listPets()).pets), `[${BELLA}]`);
await file.close();

// /mongodb needs a server, and judges the URL without one
await assert.rejects(async () => openMongoStore('mongodb://127.0.0.1/no.name'));

// /api-keys, /http, /fetch, /koa, /node
const { key } = await new ManagedApiKeys({ apiKeys, generate: apiKeyGenerator() }).issue({
  name: 'shop',
  scopes: ['pets:read'],
});
const http = new HttpInterface({
  animalStore: store,
  authenticator: new ApiKeyAuthenticator({ apiKeys }),
  readiness: new Readiness(check),
  docs: await readDocsFiles(),
});
const headers = { Authorization: `Bearer ${key}` };
const handle: (request: Request) => Promise<Response> = createFetchHandler(http);
assert.equal(
  await (await handle(new Request('http://localhost/v1/pets/1', { headers }))).text(),
  BELLA,
);
assert.match(JSON.parse(await loadOpenApiDocument()).openapi, /^3\.1\./);
assert.ok(animalStoreRouter(http).routes());
const server = new NodeServer(createKoaApp(http).callback());
const page = await fetch(`http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/docs`);
const script = /<script[^>]*src="([^"]+)"/.exec(await page.text())?.[1];
assert.equal((await fetch(new URL(script ?? '', page.url))).status, 200);
assert.equal(await server.close(1000), true);
const other = createServer(createNodeListener(http)).listen(0, '127.0.0.1');
await once(other, 'listening');
const { port } = other.address() as AddressInfo;
assert.equal((await fetch(`http://127.0.0.1:${port}/v1/pets/1`, { headers })).status, 200);
other.closeAllConnections();
other.close();

// /bootstrap, /client
const settings = readSettings({
  PORT: '0',
  STORE_URL: 'memory:',
  API_KEYS: key,
  LOG_LEVEL: 'silent',
});
const service: Service = await startService(await createContainer(settings));
const client: AnimalStore = new AnimalStoreClient({ baseUrl: service.url, apiKey: key });
assert.equal(stringifyJson((await client.createPet(animal)).pet), BELLA);
await service.stop();

// /contract, with functions like those of a test runner
const running: Promise<void>[] = [];
const it = (_title: string, body: () => Promise<void>) => void running.push(body());
petRepositoryTests({
  describe: (_title, body) => body(),
  it: Object.assign(it, { skip: () => {} }),
  open: async () => openMemoryStore(),
  without: ['reopen', 'another'],
});
await Promise.all(running);
assert.ok(running.length > 10);

console.log(`types and calls agree on Node.js ${process.versions.node}`);
