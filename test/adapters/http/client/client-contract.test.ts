import { animalStoreClient } from '../../../../src/adapters/http/client/index.js';
import { createFetchHandler } from '../../../../src/adapters/http/fetch/index.js';
import { animalStoreTests } from '../../../contract/index.js';
import { httpInterface, memoryAnimalStore } from '../fixtures.js';

/** A client of the whole interface on an empty memory store, without a socket. */
async function open() {
  const settings = { experimental: ['changePet', 'removePet'] } as const;
  const handle = createFetchHandler(httpInterface({ animalStore: memoryAnimalStore(), settings }));
  const animalStore = animalStoreClient({
    baseUrl: 'http://animals.example/v1',
    apiKey: 'a-key-of-the-client-tests',
    fetch: (url, init) => handle(new Request(url, init)),
  });
  return { animalStore, close: async () => {} };
}

describe('The client of a service', () => animalStoreTests({ describe, it, open }));
