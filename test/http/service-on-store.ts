import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiKeyAuthenticator } from '../../src/adapters/api-keys/index.js';
import { HttpInterface, Readiness } from '../../src/adapters/http/index.js';
import { createKoaApp } from '../../src/adapters/http/koa/index.js';
import { NodeServer } from '../../src/adapters/http/node/index.js';
import { openMongoStore } from '../../src/adapters/mongodb/index.js';
import { openSqliteStore } from '../../src/adapters/sqlite/index.js';
import { createAnimalStore } from '../../src/application/create-animal-store.js';
import type { Store } from '../../src/application/ports/store.js';
import { describeOnMongo, dropDatabase, newDatabaseName, uriOf } from '../adapters/mongodb/mongo-server.js';
import { STATIC_KEYS, issueKeys } from '../contract/http/wire-http.js';
import type { RunningService } from '../contract/http-contract.js';

/** Starts a service on an empty store, over Koa. Stopping it removes the store. */
export type StartService = () => Promise<RunningService>;

async function listen(store: Store, remove: () => Promise<unknown>): Promise<RunningService> {
  const { pets, apiKeys } = store;
  if (apiKeys === undefined) throw new Error('the store keeps no API keys');
  const http = new HttpInterface({
    animalStore: createAnimalStore({ pets }),
    authenticator: new ApiKeyAuthenticator({ staticKeys: Object.values(STATIC_KEYS), apiKeys }),
    readiness: new Readiness((call) => pets.check(call)),
  });
  const handle = createKoaApp(http).callback();
  const server = new NodeServer((request, response) => void handle(request, response));
  const port = await server.listen(0, '127.0.0.1');
  return {
    url: `http://127.0.0.1:${port}${http.settings.basePath}`,
    keys: await issueKeys(apiKeys),
    async stop() {
      await server.close(1000);
      await store.close();
      await remove();
    },
  };
}

/** Declares tests on a service with each store that outlives its process. */
export function describeOnStores(title: string, body: (start: StartService) => void): void {
  describe(`${title} on SQLite`, () => {
    body(async () => {
      const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
      const store = await openSqliteStore(join(folder, 'animals.db'));
      return listen(store, () => rm(folder, { recursive: true }));
    });
  });

  describeOnMongo(`${title} on MongoDB`, (server) => {
    body(async () => {
      const database = newDatabaseName();
      return listen(await openMongoStore(uriOf(server, database)), () => dropDatabase(server, database));
    });
  });
}
