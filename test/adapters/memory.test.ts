import { MemoryApiKeyRepository } from '../../src/adapters/memory/memory-api-key-repository.js';
import { MemoryCatalogue } from '../../src/adapters/memory/memory-catalogue.js';
import { MemoryCatalogueTransfer } from '../../src/adapters/memory/memory-catalogue-transfer.js';
import { MemoryDeprecatedCallRepository } from '../../src/adapters/memory/memory-deprecated-call-repository.js';
import { MemoryPetRepository } from '../../src/adapters/memory/memory-pet-repository.js';
import { apiKeyRepositoryContract } from '../contract/api-key-repository-contract.js';
import { bindContract } from '../contract/bind-contract.js';
import { catalogueTransferContract } from '../contract/catalogue-transfer-contract.js';
import { deprecatedCallRepositoryContract } from '../contract/deprecated-call-repository-contract.js';
import { petRepositoryContract } from '../contract/pet-repository-contract.js';

describe('MemoryPetRepository', () => {
  bindContract(petRepositoryContract, async () => {
    const pets = new MemoryPetRepository();
    return { pets, dispose: () => pets.close() };
  });
});

describe('MemoryApiKeyRepository', () => {
  bindContract(apiKeyRepositoryContract, async () => {
    const keys = new MemoryApiKeyRepository();
    return { keys, dispose: () => keys.close() };
  });
});

describe('MemoryDeprecatedCallRepository', () => {
  bindContract(deprecatedCallRepositoryContract, async () => {
    const counts = new MemoryDeprecatedCallRepository();
    return { counts, dispose: () => counts.close() };
  });
});

describe('MemoryCatalogueTransfer', () => {
  bindContract(catalogueTransferContract, async () => {
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
