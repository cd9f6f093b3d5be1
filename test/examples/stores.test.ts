import { join } from 'node:path';
import type { Store } from '../../src/application/ports/store.js';
import {
  TOKENS,
  createContainer,
  readSettings,
  type ContainerModule,
} from '../../src/bootstrap/index.js';
import { petRepositoryTests, storeTests } from '../contract/index.js';
import { ROOT } from '../root.js';
import { removeFolders, temporaryFolder } from '../temporary-folder.js';

const example = (path: string): Promise<unknown> => import(join(ROOT, 'examples', path));

async function openFile() {
  const { openFileStore } = (await example('stores/file-store.mjs')) as {
    openFileStore: (path: string) => Promise<Store>;
  };
  const path = join(temporaryFolder(), 'pets');
  const store = await openFileStore(path);
  return {
    store,
    reopen: () => store.close().then(() => openFileStore(path)),
    close: () => store.close(),
  };
}

async function openDecorated() {
  const { adapter } = (await example('stores/slow-lists.mjs')) as { adapter: ContainerModule };
  const container = await createContainer(readSettings({ STORE_URL: 'memory:' }), [adapter]);
  const store = await container.getAsync(TOKENS.store);
  return { pets: store.pets, close: () => store.close() };
}

describe('Stores in examples', () => {
  describe('in a file', () => {
    afterEach(removeFolders);
    const without = ['another', 'changes', 'apiKeys', 'transfer'];
    storeTests({ describe, it, open: openFile, without });
  });

  describe('decorated by slow-lists', () =>
    petRepositoryTests({ describe, it, open: openDecorated, without: ['reopen', 'another'] }));
});
