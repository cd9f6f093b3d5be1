import { MemoryPetRepository } from '../../src/adapters/memory/memory-pet-repository.js';
import { createAnimalStore } from '../../src/application/create-animal-store.js';
import { animalStoreContract } from '../contract/animal-store-contract.js';
import { bindToMocha } from '../contract/bind-to-mocha.js';

describe('createAnimalStore on MemoryPetRepository', () => {
  bindToMocha(animalStoreContract, async () => {
    const pets = new MemoryPetRepository();
    return { store: createAnimalStore({ pets }), dispose: () => pets.close() };
  });
});
