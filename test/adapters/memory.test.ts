import { MemoryApiKeyRepository } from '../../src/adapters/memory/memory-api-key-repository.js';
import { MemoryPetRepository } from '../../src/adapters/memory/memory-pet-repository.js';
import { apiKeyRepositoryContract } from '../contract/api-key-repository-contract.js';
import { bindToMocha } from '../contract/bind-to-mocha.js';
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
