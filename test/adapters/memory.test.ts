import { openMemoryStore } from '../../src/adapters/memory/open-memory-store.js';
import { bindContract } from '../contract/bind-contract.js';
import { storeContracts } from '../contract/store-contracts.js';

describe('openMemoryStore', () => {
  for (const contract of storeContracts) {
    bindContract(contract, async () => {
      const store = openMemoryStore();
      return { ...store, dispose: () => store.close() };
    });
  }
});
