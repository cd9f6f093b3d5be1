import { AnimalStoreClient } from '../../../../src/adapters/http/client/animal-store-client.js';
import { createFetchHandler } from '../../../../src/adapters/http/fetch/fetch-handler.js';
import { createContainer } from '../../../../src/bootstrap/service/container.js';
import { readSettings } from '../../../../src/bootstrap/service/settings.js';
import {
  animalStoreContract,
  bindContract,
  type AnimalStoreSubject,
} from '../../../contract/index.js';
import { TOKENS } from '../../../../src/bootstrap/service/wiring.js';

const KEY = 'a-key-of-the-client-tests';

/** A client of the whole service on an empty memory store, without a socket. */
async function clientSubject(): Promise<AnimalStoreSubject> {
  const container = await createContainer(
    readSettings({ STORE_URL: 'memory:', API_KEYS: KEY, EXPERIMENTAL: 'changePet,removePet' }),
  );
  const handle = createFetchHandler(await container.getAsync(TOKENS.httpInterface));
  const options = { baseUrl: 'http://animals.example/v1', apiKey: KEY };
  return {
    animalStore: new AnimalStoreClient({
      ...options,
      fetch: (url, init) => handle(new Request(url, init)),
    }),
    scopeOfCaller: true,
    dispose: async () => (await container.getAsync(TOKENS.store)).close(),
  };
}

describe('AnimalStoreClient', () =>
  bindContract(animalStoreContract, clientSubject, undefined, { without: ['scopes'] }));
