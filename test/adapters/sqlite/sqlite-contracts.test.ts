import { join } from 'node:path';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { bindContract } from '../../contract/bind-contract.js';
import { storeContracts } from '../../contract/store-contracts.js';
import { storeSubject } from '../../contract/store-subject.js';
import { temporaryFolder } from './temporary-store.js';

describe('openSqliteStore', () => {
  for (const contract of storeContracts) {
    bindContract(contract, async () => {
      const folder = await temporaryFolder();
      const open = () => openSqliteStore(join(folder.path, 'animals.db'));
      return storeSubject(open, () => folder.remove(), {
        durable: true,
        shared: true,
        ordered: true,
      });
    });
  }
});
