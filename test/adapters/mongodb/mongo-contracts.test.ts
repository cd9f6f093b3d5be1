import { expect } from 'chai';
import { openMongoStore } from '../../../src/adapters/mongodb/index.js';
import { bindContract, storeContracts, storeSubject } from '../../contract/index.js';
import { skipReasons } from '../skip-reasons.js';
import { describeOnMongo, returnDatabase, takeDatabase, uriOf } from './mongo-server.js';

describeOnMongo('The MongoDB store', (server) => {
  async function openSubject() {
    const database = takeDatabase();
    // Patient: hundreds of simultaneous adds are much for a busy machine.
    const url = `${uriOf(server, database)}&maxPoolSize=4`;
    const open = () => openMongoStore(url, { timeout: 60_000 });
    return storeSubject(open, () => returnDatabase(server, database), { durable: true, shared: true });
  }

  // The use cases have no promise that only a store can break: they are tested on memory.
  for (const contract of storeContracts.filter(({ port }) => port !== 'AnimalStore'))
    bindContract(contract, openSubject, undefined, { animals: 300, timeLimit: 60_000 });

  it('is held to every case of the contracts but those on order', async () => {
    const subject = await openSubject();
    const [reason, ...others] = skipReasons(subject);
    expect(reason).to.include('`ordered`');
    expect(others).to.deep.equal([]);
    await subject.dispose();
  });
});
