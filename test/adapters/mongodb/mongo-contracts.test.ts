import { openMongoStore } from '../../../src/adapters/mongodb/index.js';
import { storeTests } from '../../contract/store-tests.js';
import { describeOnMongo, dropDatabase, newDatabaseName, uriOf } from './mongo-server.js';

describeOnMongo('The MongoDB store', (server) => {
  async function open() {
    const database = newDatabaseName();
    const another = () => openMongoStore(uriOf(server, database));
    const store = await another();
    return {
      store,
      another,
      reopen: () => store.close().then(another),
      close: () => store.close().then(() => dropDatabase(server, database)),
    };
  }
  storeTests({ describe, it, open });
});
