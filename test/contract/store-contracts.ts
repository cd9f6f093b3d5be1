import { createAnimalStore } from '../../src/application/create-animal-store.js';
import { changingCases } from './animal-store/changing.js';
import { creatingCases } from './animal-store/creating.js';
import { readingCases } from './animal-store/reading.js';
import type { AnimalStoreSubject } from './animal-store/subject.js';
import { apiKeyRepositoryContract } from './api-key-repository-contract.js';
import { catalogueTransferContract } from './catalogue-transfer-contract.js';
import { casesOf, missingIn, type Contract } from './contract.js';
import { petChangesContract } from './pet-changes-contract.js';
import { ADDING, exactCases } from './pet-repository/adding.js';
import { CLAIMING } from './pet-repository/claiming.js';
import { ENDING } from './pet-repository/ending.js';
import { handleCases } from './pet-repository/handles.js';
import { READING } from './pet-repository/reading.js';
import { storeContract } from './store-contract.js';
import { PARTS, noStore, type StoreSubject } from './store-subject.js';

const animalStoreCases = [...creatingCases, ...readingCases, ...changingCases];

/** The use cases, in this process or over HTTP. Errors are compared by their code. */
export const animalStoreContract: Contract<AnimalStoreSubject> = {
  port: 'AnimalStore',
  lacks: (subject) =>
    missingIn(subject, 'animalStore.listPets', 'animalStore.createPet', 'animalStore.getPet'),
  cases: animalStoreCases,
};

const petCases = [
  ...exactCases,
  ...casesOf({ ...ADDING, ...READING, ...ENDING }),
  ...casesOf(CLAIMING, PARTS.claims),
  ...handleCases,
];

/** Every store of animals, and what its subject declares. */
export const petRepositoryContract: Contract<StoreSubject> = {
  port: 'PetRepository',
  lacks: noStore,
  cases: petCases,
};

/** The use cases on the animals of a store. */
const useCasesOn = ({ pets, changes, dispose }: StoreSubject): AnimalStoreSubject => ({
  animalStore: createAnimalStore({ pets, changes }),
  dispose,
});

/** The contracts of a store: its lifecycle, all its ports, and the use cases on it. */
export const storeContracts: readonly Contract<StoreSubject>[] = [
  storeContract,
  petRepositoryContract,
  apiKeyRepositoryContract,
  catalogueTransferContract,
  petChangesContract,
  {
    port: animalStoreContract.port,
    lacks: noStore,
    cases: animalStoreContract.cases.map(({ name, needs = [], run }) => ({
      name,
      needs: needs.map((part) => ({
        name: part.name,
        missing: (store) => part.missing(useCasesOn(store)),
      })),
      run: (store, context) => run(useCasesOn(store), context),
    })),
  },
];
