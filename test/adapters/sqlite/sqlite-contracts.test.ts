import { join } from 'node:path';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import type { FullStore } from '../../../src/application/ports/store.js';
import { bindContract } from '../../contract/bind-contract.js';
import { storeContracts } from '../../contract/store-contracts.js';
import { temporaryFolder } from './temporary-store.js';

describe('openSqliteStore', () => {
  for (const contract of storeContracts) {
    bindContract(contract, async () => {
      const folder = await temporaryFolder();
      const opened: FullStore[] = [];
      const another = async (): Promise<FullStore> => {
        const store = await openSqliteStore(join(folder.path, 'animals.db'));
        opened.push(store);
        return store;
      };
      const first = await another();
      return {
        ...first,
        another,
        ordered: true,
        async reopen() {
          await first.close();
          return another();
        },
        async dispose() {
          for (const store of opened) await store.close();
          await folder.remove();
        },
      };
    });
  }
});
