import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { storeTests } from 'animal-store/contract';
import { openLevelStore } from './adapter.mjs';

async function open() {
  const folder = await mkdtemp(join(tmpdir(), 'level-pets-'));
  const store = await openLevelStore(folder);
  return {
    store,
    async reopen() {
      await store.close();
      return openLevelStore(folder);
    },
    async close() {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}

describe('openLevelStore', () => {
  // LevelDB cannot do `another`; this example omits the others.
  storeTests({ describe, it, open, without: ['another', 'apiKeys', 'changes', 'transfer'] });
});
