import { expect } from 'chai';
import { openMongoStore } from '../../../src/adapters/mongodb/index.js';
import {
  bindContract,
  storeContracts,
  storeFactoryContract,
  storeSubject,
} from '../../contract/index.js';
import { missingParts } from '../missing-parts.js';
import {
  describeOnMongo,
  dropDatabase,
  newDatabaseName,
  returnDatabase,
  takeDatabase,
  uriOf,
} from './mongo-server.js';

describeOnMongo('The MongoDB store', (server) => {
  async function openSubject() {
    const database = takeDatabase();
    // Patient: hundreds of simultaneous adds are much for a busy machine.
    const url = `${uriOf(server, database)}&maxPoolSize=4`;
    const open = () => openMongoStore(url, { timeout: 60_000 });
    return storeSubject(open, () => returnDatabase(server, database), {
      durable: true,
      shared: true,
    });
  }

  // The use cases have no promise that only a store can break: they are tested on memory.
  for (const contract of storeContracts.filter(({ port }) => port !== 'AnimalStore'))
    bindContract(contract, openSubject, undefined, {
      animals: 300,
      timeLimit: 60_000,
      without: ['ordered'],
    });

  bindContract(storeFactoryContract, async () => {
    const database = newDatabaseName(); // one that was used before has its collections
    // Patient: a store whose server seems unreachable opens.
    const url = `${uriOf(server, database)}&connectTimeoutMS=20000&serverSelectionTimeoutMS=20000`;
    return {
      open: (options) => openMongoStore(url, { ...options, timeout: 60_000 }),
      isShared: true,
      dispose: async () => void (await dropDatabase(server, database)),
    };
  });

  it('is held to every case of the contracts but those on order', async () => {
    const subject = await openSubject();
    expect([...missingParts(subject)]).to.deep.equal(['ordered']);
    await subject.dispose();
  });
});
