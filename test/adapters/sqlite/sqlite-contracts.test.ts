import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { storeTests } from '../../contract/index.js';
import { cleanUp, testFile } from './test-store.js';

describe('openSqliteStore', () => {
  afterEach(cleanUp);

  storeTests({
    describe,
    it,
    async open() {
      const file = testFile();
      const store = await openSqliteStore(file);
      return {
        store,
        async reopen() {
          await store.close();
          return openSqliteStore(file);
        },
        another: () => openSqliteStore(file),
        close: () => store.close(),
      };
    },
  });
});
