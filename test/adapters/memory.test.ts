import { MemoryApiKeyRepository } from '../../src/adapters/memory/memory-api-key-repository.js';
import { MemoryCatalogue } from '../../src/adapters/memory/memory-catalogue.js';
import { MemoryCatalogueTransfer } from '../../src/adapters/memory/memory-catalogue-transfer.js';
import { MemoryDeprecatedCallRepository } from '../../src/adapters/memory/memory-deprecated-call-repository.js';
import { MemoryPetRepository } from '../../src/adapters/memory/memory-pet-repository.js';
import { apiKeyRepositoryContract } from '../contract/api-key-repository-contract.js';
import { bindToMocha } from '../contract/bind-to-mocha.js';
import { catalogueTransferContract } from '../contract/catalogue-transfer-contract.js';
import { deprecatedCallRepositoryContract } from '../contract/deprecated-call-repository-contract.js';
import { petRepositoryContract } from '../contract/pet-repository-contract.js';

describe('MemoryPetRepository', () => {
  bindToMocha(petRepositoryContract, async () => {
    const pets = new MemoryPetRepository();
    return { pets, dispose: () => pets.close() };
  });
});

describe('MemoryApiKeyRepository', () => {
  bindToMocha(apiKeyRepositoryContract, async () => {
    const keys = new MemoryApiKeyRepository();
    return { keys, dispose: () => keys.close() };
  });
});

describe('MemoryDeprecatedCallRepository', () => {
  bindToMocha(deprecatedCallRepositoryContract, async () => {
    const counts = new MemoryDeprecatedCallRepository();
    return { counts, dispose: () => counts.close() };
  });
});

describe('MemoryCatalogueTransfer', () => {
  bindToMocha(catalogueTransferContract, async () => {
    const catalogue = new MemoryCatalogue();
    const transfer = new MemoryCatalogueTransfer(catalogue);
    return {
      transfer,
      pets: new MemoryPetRepository(catalogue),
      keys: new MemoryApiKeyRepository(catalogue),
      dispose: () => transfer.close(),
    };
  });
});
