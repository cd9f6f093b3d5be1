import { openMemoryStore } from '../../src/adapters/memory/index.js';
import { bindContract, storeContracts } from '../contract/index.js';

describe('the store in memory', () => {
  for (const contract of storeContracts) {
    bindContract(contract, async () => {
      const store = openMemoryStore();
      return { ...store, ordered: true, dispose: () => store.close() };
    });
  }
});
