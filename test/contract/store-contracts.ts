import { createAnimalStore } from '../../src/application/create-animal-store.js';
import { animalStoreContract } from './animal-store-contract.js';
import { apiKeyRepositoryContract } from './api-key-repository-contract.js';
import { catalogueTransferContract } from './catalogue-transfer-contract.js';
import { casesOf, type Contract } from './contract.js';
import { petChangesContract } from './pet-changes-contract.js';
import { ADDING } from './pet-repository/adding.js';
import { CLAIMING } from './pet-repository/claiming.js';
import { ENDING } from './pet-repository/ending.js';
import { handleCases } from './pet-repository/handles.js';
import { READING } from './pet-repository/reading.js';
import type { StoreSubject } from './store-subject.js';

/** What every store of animals promises, and what its subject declares. */
export const petRepositoryContract: Contract<StoreSubject> = {
  port: 'PetRepository',
  cases: [...casesOf({ ...ADDING, ...READING, ...CLAIMING, ...ENDING }), ...handleCases],
};

/**
 * The contracts of a store: all its ports, and the use cases on it. Cases of ports that the store does not have are
 * skipped.
 */
export const storeContracts: readonly Contract<StoreSubject>[] = [
  petRepositoryContract,
  apiKeyRepositoryContract,
  catalogueTransferContract,
  petChangesContract,
  {
    port: animalStoreContract.port,
    cases: animalStoreContract.cases.map(({ name, unless, run }) => ({
      name,
      unless: ({ pets, changes, dispose }) =>
        unless?.({ animalStore: createAnimalStore({ pets, changes }), dispose }),
      run: ({ pets, changes, dispose }, context) =>
        run({ animalStore: createAnimalStore({ pets, changes }), dispose }, context),
    })),
  },
];
