import { AnimalStoreClient } from '../../../../src/adapters/http/client/animal-store-client.js';
import type { Fetch } from '../../../../src/adapters/http/client/client-options.js';
import { createFetchHandler } from '../../../../src/adapters/http/fetch/fetch-handler.js';
import { NodeServer } from '../../../../src/adapters/http/node/node-server.js';
import { TOKENS, createContainer } from '../../../../src/bootstrap/container.js';
import { readSettings } from '../../../../src/bootstrap/settings.js';
import type { AnimalStoreSubject } from '../../../contract/animal-store-contract.js';

const KEY = 'a-key-of-the-client-tests';

const SETTINGS = readSettings({ STORE_URL: 'memory:', API_KEYS: KEY });

/** A client of the service's listener on a server of its own, over Koa, on an empty memory store. */
export async function clientSubject(): Promise<AnimalStoreSubject> {
  const container = await createContainer(SETTINGS);
  // A service would wait for more requests on the idle connections of fetch.
  const limits = { stopGrace: 0 };
  const server = new NodeServer(await container.getAsync(TOKENS.requestListener), { limits });
  const baseUrl = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/v1`;
  return {
    animalStore: new AnimalStoreClient({ baseUrl, apiKey: KEY }),
    scopeOfCaller: true,
    dispose: async () => {
      await server.close(10_000);
      await (await container.getAsync(TOKENS.store)).close();
    },
  };
}

/** A client of the fetch transport in this process, without a socket, on an empty memory store. */
export async function socketlessSubject(): Promise<AnimalStoreSubject> {
  const container = await createContainer(SETTINGS);
  const handle = createFetchHandler(await container.getAsync(TOKENS.httpInterface));
  const fetch: Fetch = (url, init) => handle(new Request(url, init));
  return {
    animalStore: new AnimalStoreClient({ baseUrl: 'http://animals.example/v1', apiKey: KEY, fetch }),
    scopeOfCaller: true,
    dispose: async () => (await container.getAsync(TOKENS.store)).close(),
  };
}
