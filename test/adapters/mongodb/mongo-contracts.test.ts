import { openMongoStore } from '../../../src/adapters/mongodb/index.js';
import type { FullStore } from '../../../src/application/ports/store.js';
import { bindContract, storeContracts } from '../../contract/index.js';
import { describeOnMongo, returnDatabase, takeDatabase, uriOf } from './mongo-server.js';

describeOnMongo('The MongoDB store', (server) => {
  // The use cases have no promise that only a store can break: they are tested on memory.
  for (const contract of storeContracts.filter(({ port }) => port !== 'AnimalStore')) {
    bindContract(
      contract,
      async () => {
        const database = takeDatabase();
        const opened: FullStore[] = [];
        const another = async (): Promise<FullStore> => {
          // Patient: hundreds of simultaneous adds are much for a busy machine.
          const store = await openMongoStore(`${uriOf(server, database)}&maxPoolSize=4`, { timeout: 60_000 });
          opened.push(store);
          return store;
        };
        const { pets, apiKeys, transfer } = await another();
        const reopen = async (): Promise<FullStore> => {
          await opened[0]?.close();
          return another();
        };
        const dispose = async (): Promise<void> => {
          for (const store of opened) await store.close();
          await returnDatabase(server, database);
        };
        return { pets, apiKeys, transfer, reopen, another, dispose };
      },
      undefined,
      { animals: 300, timeLimit: 60_000 },
    );
  }
});
