// A few lines of each entry, as a strict program that checks the declarations of all it depends on sees them.
import assert from 'node:assert/strict';
import { createAnimalStore, PetNotFoundError, stringify, type AnimalStore, type Pet } from 'animal-store';
import { ApiKeyAuthenticator, ManagedApiKeys } from 'animal-store/api-keys';
import { createContainer, readSettings, startService, type Service } from 'animal-store/bootstrap';
import { AnimalStoreClient } from 'animal-store/client';
import { petRepositoryContract, type Contract, type PetRepositorySubject } from 'animal-store/contract';
import { createFetchHandler, type FetchHandler } from 'animal-store/fetch';
import { DEFAULT_HTTP_SETTINGS, HttpInterface, Readiness } from 'animal-store/http';
import { animalStore, createKoaApp } from 'animal-store/koa';
import { MemoryApiKeyRepository, MemoryPetRepository } from 'animal-store/memory';
import { openMongoStore, type MongoStore } from 'animal-store/mongodb';
import { NodeServer } from 'animal-store/node';
import { openSqliteStore, type SqliteStore } from 'animal-store/sqlite';

const pets = new MemoryPetRepository();
const store: AnimalStore = createAnimalStore({ pets });
const { pet }: { pet: Pet } = await store.createPet({ name: 'Bella', categoryId: 2n ** 63n - 1n });
const id: bigint = pet.id;
assert.equal(stringify(await store.getPet(id)), stringify(pet));
const missing: unknown = await store.getPet(id + 1n).catch((error: unknown) => error);
assert.ok(missing instanceof PetNotFoundError);
assert.equal(missing.petId, String(id + 1n));

const keys = new MemoryApiKeyRepository();
const { key } = await new ManagedApiKeys({ keys }).issue({ name: 'shop', scopes: ['pets:read'] });
const http = new HttpInterface({
  store,
  authenticator: new ApiKeyAuthenticator({ keys }),
  readiness: new Readiness((call) => pets.check(call)),
  settings: { basePath: DEFAULT_HTTP_SETTINGS.basePath },
});
const handle: FetchHandler = createFetchHandler(http);
const headers = { Authorization: `Bearer ${key}` };
assert.equal((await handle(new Request('http://localhost/v1/pets', { headers }))).status, 200);

const app = createKoaApp(http);
app.use(animalStore(http));
const server = new NodeServer(app.callback());
await server.close(0);

const settings = readSettings({ PORT: '0', STORE_URL: 'memory:', API_KEYS: key, LOG_LEVEL: 'silent' });
const service: Service = await startService(await createContainer(settings));
const client: AnimalStore = new AnimalStoreClient({ baseUrl: service.url, apiKey: key });
assert.deepEqual((await client.listPets()).pets, []);
await service.stop();

const contract: Contract<PetRepositorySubject> = petRepositoryContract;
assert.ok(contract.cases.length > 0);

/** Never called: there is no server. */
export const animalsOf = async (url: string, path: string): Promise<readonly [MongoStore, SqliteStore]> => [
  await openMongoStore(url),
  await openSqliteStore(path),
];
console.log(`types and calls agree on Node.js ${process.versions.node}`);
