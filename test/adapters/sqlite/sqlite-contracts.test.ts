import { expect } from 'chai';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { sqliteStoreFactory } from '../../../src/adapters/sqlite/sqlite-store-factory.js';
import { bindContract } from '../../contract/bind-contract.js';
import { storeContracts } from '../../contract/store-contracts.js';
import { storeFactoryContract } from '../../contract/store-factory-contract.js';
import { storeSubject } from '../../contract/store-subject.js';
import { missingParts } from '../missing-parts.js';
import { cleanUp, testFile } from './temporary-store.js';

function openSubject() {
  const { file } = testFile();
  return storeSubject(
    () => openSqliteStore(file),
    async () => {},
    { durable: true, shared: true, ordered: true },
  );
}

describe('openSqliteStore', () => {
  afterEach(cleanUp);
  for (const contract of storeContracts) bindContract(contract, openSubject);
  bindContract(storeFactoryContract, async () => {
    const { file } = testFile();
    return {
      open: (options) => sqliteStoreFactory.open(`sqlite:${file}`, options),
      isShared: true,
      dispose: async () => {},
    };
  });

  it('is held to every case of the contracts', async () => {
    const subject = await openSubject();
    expect([...missingParts(subject)]).to.deep.equal([]);
    await subject.dispose();
  });
});
