import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { sqliteStoreFactory } from '../../../src/adapters/sqlite/sqlite-store-factory.js';
import { storeTests } from '../../contract/index.js';
import { openModeTests } from '../open-modes.js';
import { cleanUp, testFile } from './temporary-store.js';

async function open() {
  const { file } = testFile();
  const store = await openSqliteStore(file);
  return {
    store,
    reopen: () => store.close().then(() => openSqliteStore(file)),
    another: () => openSqliteStore(file),
    close: () => store.close(),
  };
}

describe('openSqliteStore', () => {
  afterEach(cleanUp);

  storeTests({ describe, it, open });

  openModeTests(async () => {
    const { file } = testFile();
    return (options) => sqliteStoreFactory.open(`sqlite:${file}`, options);
  });
});
