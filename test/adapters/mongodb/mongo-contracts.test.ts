import { openMongoStore } from '../../../src/adapters/mongodb/index.js';
import { bindContract, storeContracts, storeSubject } from '../../contract/index.js';
import { describeOnMongo, returnDatabase, takeDatabase, uriOf } from './mongo-server.js';

describeOnMongo('The MongoDB store', (server) => {
  // The use cases have no promise that only a store can break: they are tested on memory.
  for (const contract of storeContracts.filter(({ port }) => port !== 'AnimalStore')) {
    bindContract(
      contract,
      async () => {
        const database = takeDatabase();
        // Patient: hundreds of simultaneous adds are much for a busy machine.
        const url = `${uriOf(server, database)}&maxPoolSize=4`;
        const open = () => openMongoStore(url, { timeout: 60_000 });
        return storeSubject(open, () => returnDatabase(server, database), { durable: true, shared: true });
      },
      undefined,
      { animals: 300, timeLimit: 60_000 },
    );
  }
});
