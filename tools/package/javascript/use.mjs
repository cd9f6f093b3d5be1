// A few lines of each entry, in plain JavaScript. Run in a project that has the package and nothing else.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createAnimalStore, isAnimalStoreError, parse, stringify } from 'animal-store';
import { ApiKeyAuthenticator, ManagedApiKeys } from 'animal-store/api-keys';
import { createContainer, readSettings, startService } from 'animal-store/bootstrap';
import { AnimalStoreClient } from 'animal-store/client';
import { animalStoreContract, petRepositoryContract, runContract } from 'animal-store/contract';
import { createFetchHandler } from 'animal-store/fetch';
import { HttpInterface, Readiness, openApiDocument } from 'animal-store/http';
import { createKoaApp } from 'animal-store/koa';
import { MemoryApiKeyRepository, MemoryPetRepository } from 'animal-store/memory';
import { MongoUrlError, openMongoStore } from 'animal-store/mongodb';
import { NodeServer, readDocsFiles } from 'animal-store/node';
import manifest from 'animal-store/package.json' with { type: 'json' };
import { openSqliteStore } from 'animal-store/sqlite';

const LARGEST = 2n ** 63n - 1n;
const BELLA = '{"id":1,"name":"Bella","categoryId":9223372036854775807,"status":"available"}';
const animal = { name: 'Bella', categoryId: LARGEST };

// animal-store, /memory, /sqlite
const pets = new MemoryPetRepository();
const store = createAnimalStore({ pets });
assert.equal(stringify((await store.createPet(animal)).pet), BELLA);
assert.equal(parse(stringify(await store.getPet(1))).categoryId, LARGEST);
assert.ok(isAnimalStoreError(await store.getPet(2).catch((error) => error)));
const file = await openSqliteStore(process.argv[2]);
const onDisk = createAnimalStore({ pets: file.pets });
await onDisk.createPet(animal);
assert.equal(stringify((await onDisk.listPets()).pets), `[${BELLA}]`);
await file.close();

// /mongodb needs a server, and judges the URL without one
await assert.rejects(async () => openMongoStore('mongodb://127.0.0.1/no.name'), MongoUrlError);

// /api-keys, /http, /fetch, /koa, /node
const keys = new MemoryApiKeyRepository();
const { key } = await new ManagedApiKeys({ keys }).issue({ name: 'shop' });
const http = new HttpInterface({
  store,
  authenticator: new ApiKeyAuthenticator({ keys }),
  readiness: new Readiness((call) => pets.check(call)),
  docs: await readDocsFiles(),
});
const headers = { Authorization: `Bearer ${key}` };
const handle = createFetchHandler(http);
const answer = await handle(new Request('http://localhost/v1/pets/1', { headers }));
assert.equal(await answer.text(), BELLA);
assert.match(JSON.parse(openApiDocument()).openapi, /^3\.1\./);
const listener = createKoaApp(http).callback();
const server = new NodeServer(listener);
const port = await server.listen(0, '127.0.0.1');
const page = await fetch(`http://127.0.0.1:${port}/docs`);
assert.match(await page.text(), /<html/);
const [, script = ''] = /<script[^>]*src="([^"]+)"/.exec(await (await fetch(page.url)).text()) ?? [];
assert.equal((await fetch(new URL(script, page.url))).status, 200);
assert.equal(await server.close(1000), true);
const other = createServer(listener).listen(0, '127.0.0.1');
await once(other, 'listening');
const { port: otherPort } = other.address();
assert.equal((await fetch(`http://127.0.0.1:${otherPort}/livez`)).status, 200);
other.closeAllConnections();
other.close();

// /bootstrap, /client
const settings = readSettings({ PORT: '0', STORE_URL: 'memory:', API_KEYS: key, LOG_LEVEL: 'silent' });
const service = await startService(await createContainer(settings));
const client = new AnimalStoreClient({ baseUrl: service.url, apiKey: key });
assert.equal(stringify((await client.createPet(animal)).pet), BELLA);
await service.stop();

// /contract
const [first] = await runContract(
  { ...petRepositoryContract, cases: petRepositoryContract.cases.slice(0, 1) },
  async () => {
    const fresh = new MemoryPetRepository();
    return { pets: fresh, dispose: () => fresh.close() };
  },
);
assert.equal(first.outcome, 'passed');
assert.ok(animalStoreContract.cases.length > 10);

console.log(`${manifest.name} ${manifest.version} on Node.js ${process.versions.node}`);
