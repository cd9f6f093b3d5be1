import { join } from 'node:path';
import { AnimalStoreClient } from '../../../../src/adapters/http/client/animal-store-client.js';
import type { AnimalStoreClientOptions, Fetch } from '../../../../src/adapters/http/client/client-options.js';
import { createFetchHandler } from '../../../../src/adapters/http/fetch/fetch-handler.js';
import { TOKENS, createContainer } from '../../../../src/bootstrap/container.js';
import { startService, type Service } from '../../../../src/bootstrap/service.js';
import { readSettings, type Settings } from '../../../../src/bootstrap/settings.js';
import type { AnimalStoreSubject } from '../../../contract/animal-store-contract.js';
import { temporaryFolder } from '../../sqlite/temporary-store.js';

export const KEY = 'a-key-of-the-client-tests';

const settingsOf = (storeUrl: string): Settings =>
  readSettings({ PORT: '0', STORE_URL: storeUrl, API_KEYS: KEY, LOG_LEVEL: 'silent' });

/** The service as it is wired, over Koa, on a free port, in this process. */
export const startAnimalService = async (storeUrl: string): Promise<Service> =>
  startService(await createContainer(settingsOf(storeUrl)));

/** A client of a service of its own, whose store is empty; one of a file goes with `dispose`. */
export const clientSubject =
  (store: 'memory' | 'SQLite', options: Partial<AnimalStoreClientOptions> = {}) =>
  async (): Promise<AnimalStoreSubject> => {
    const folder = await temporaryFolder();
    const service = await startAnimalService(
      store === 'memory' ? 'memory:' : `sqlite:${join(folder.path, 'animals.db')}`,
    );
    return {
      animalStore: new AnimalStoreClient({ baseUrl: service.url, apiKey: KEY, ...options }),
      scopeOfCaller: true,
      dispose: async () => {
        await service.stop();
        await folder.remove();
      },
    };
  };

/** A client of the fetch transport in this process, without a socket, on an empty memory store. */
export async function socketlessSubject(): Promise<AnimalStoreSubject> {
  const container = await createContainer(settingsOf('memory:'));
  const handle = createFetchHandler(await container.getAsync(TOKENS.httpInterface));
  const fetch: Fetch = (url, init) => handle(new Request(url, init));
  return {
    animalStore: new AnimalStoreClient({ baseUrl: 'http://animals.example/v1', apiKey: KEY, fetch }),
    scopeOfCaller: true,
    dispose: async () => (await container.getAsync(TOKENS.store)).close(),
  };
}
