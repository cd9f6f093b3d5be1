import { join } from 'node:path';
import { expect } from 'chai';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { bindContract } from '../../contract/bind-contract.js';
import { storeContracts } from '../../contract/store-contracts.js';
import { storeFactoryContract } from '../../contract/store-factory-contract.js';
import { storeSubject } from '../../contract/store-subject.js';
import { skipReasons } from '../skip-reasons.js';
import { temporaryFolder } from './temporary-store.js';

async function openSubject() {
  const folder = await temporaryFolder();
  const open = () => openSqliteStore(join(folder.path, 'animals.db'));
  return storeSubject(open, () => folder.remove(), { durable: true, shared: true, ordered: true });
}

describe('openSqliteStore', () => {
  for (const contract of storeContracts) bindContract(contract, openSubject);
  bindContract(storeFactoryContract, async () => {
    const folder = await temporaryFolder();
    return {
      open: (options) => openSqliteStore(join(folder.path, 'animals.db'), options),
      isShared: true,
      dispose: () => folder.remove(),
    };
  });

  it('is held to every case of the contracts', async () => {
    const subject = await openSubject();
    expect(skipReasons(subject)).to.deep.equal([]);
    await subject.dispose();
  });
});
