import { openMongoStore } from '../../../src/adapters/mongodb/index.js';
import { storeTests } from '../../contract/index.js';
import { openModeTests } from '../open-modes.js';
import {
  describeOnMongo,
  dropDatabase,
  newDatabaseName,
  returnDatabase,
  takeDatabase,
  uriOf,
} from './mongo-server.js';

describeOnMongo('The MongoDB store', (server) => {
  async function open() {
    const database = takeDatabase();
    // Patient: hundreds of simultaneous adds are much for a busy machine.
    const url = `${uriOf(server, database)}&maxPoolSize=4`;
    const another = () => openMongoStore(url, { timeout: 60_000 });
    const store = await another();
    return {
      store,
      another,
      reopen: () => store.close().then(another),
      close: () => store.close().then(() => returnDatabase(server, database)),
    };
  }

  storeTests({ describe, it, open });

  const databases: string[] = [];
  afterEach(async () => {
    for (const database of databases.splice(0)) await dropDatabase(server, database);
  });

  openModeTests(async () => {
    const database = newDatabaseName(); // one that was used before has its collections
    databases.push(database);
    // Patient: a store whose server seems unreachable opens.
    const url = `${uriOf(server, database)}&connectTimeoutMS=20000&serverSelectionTimeoutMS=20000`;
    return (options) => openMongoStore(url, { ...options, timeout: 60_000 });
  });
});
