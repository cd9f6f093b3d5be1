import { openMemoryStore } from '../../src/adapters/memory/index.js';
import {
  storeFactoryContract,
  type StoreFactoryCase,
  type StoreFactorySubject,
} from '../contract/store-factory-contract.js';
import { bites, type Bites } from './bites.js';

type Fault = 'creates it always' | 'creates it, then rejects' | 'rejects always' | 'opens another';

/** A place for one store in memory, whose handles close alone. */
const open = (fault?: Fault) => async (): Promise<StoreFactorySubject> => {
  const { pets } = openMemoryStore();
  let exists = false;
  return {
    isShared: true,
    async open({ mustExist } = {}) {
      const isMissing = mustExist && (!exists || fault === 'rejects always');
      exists ||= !isMissing || fault === 'creates it, then rejects';
      if (isMissing && fault !== 'creates it always') throw new Error('no store is here');
      return { pets: fault === 'opens another' ? openMemoryStore().pets : pets, close: async () => {} };
    },
    dispose: () => pets.close(),
  };
};

const broken: Bites<StoreFactoryCase, Fault> = {
  'rejects where a store must exist and none does, and creates none': [
    'creates it always',
    'creates it, then rejects',
  ],
  'opens a store that must exist once it holds an animal': 'rejects always',
  'opens one store for two handles at once': 'opens another',
};

bites<StoreFactorySubject, Fault>(storeFactoryContract, open, broken);
