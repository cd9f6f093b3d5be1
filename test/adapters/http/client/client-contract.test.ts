import { AnimalStoreClient } from '../../../../src/adapters/http/client/animal-store-client.js';
import { createFetchHandler } from '../../../../src/adapters/http/fetch/fetch-handler.js';
import { createContainer } from '../../../../src/bootstrap/service/container.js';
import { readSettings } from '../../../../src/bootstrap/service/settings.js';
import { animalStoreTests } from '../../../contract/index.js';
import { TOKENS } from '../../../../src/bootstrap/service/wiring.js';

const KEY = 'a-key-of-the-client-tests';

/** A client of the whole service on an empty memory store, without a socket. */
async function open() {
  const container = await createContainer(
    readSettings({ STORE_URL: 'memory:', API_KEYS: KEY, EXPERIMENTAL: 'changePet,removePet' }),
  );
  const handle = createFetchHandler(await container.getAsync(TOKENS.httpInterface));
  const store = await container.getAsync(TOKENS.store);
  const options = { baseUrl: 'http://animals.example/v1', apiKey: KEY };
  const fetch = (url: string | URL | Request, init?: RequestInit) => handle(new Request(url, init));
  return { animalStore: new AnimalStoreClient({ ...options, fetch }), close: () => store.close() };
}

describe('AnimalStoreClient', () => animalStoreTests({ describe, it, open }));
