/**
 * The contract suites: the clauses of every port as tests, for any test runner. They import no test runner, and no
 * assertion library except `node:assert`.
 *
 * @packageDocumentation
 */
export { animalStoreTests, type OpenedAnimalStore } from './animal-store/animal-store-tests.js';
export { apiKeyRepositoryTests } from './api-key-repository-tests.js';
export { authenticatorTests, type OpenedAuthenticator } from './authenticator-tests.js';
export { catalogueTransferTests } from './catalogue-transfer-tests.js';
export { httpTests, type HttpTestOptions } from './http/http-tests.js';
export type { HttpService } from './http/tested-service.js';
export { petChangesTests } from './pet-changes-tests.js';
export { petRepositoryTests } from './pet-repository/pet-repository-tests.js';
export type { Opened, PortSuite, StoreControls, StoreSuite } from './store-suite.js';
export { storeTests } from './store-tests.js';
export type { SuiteOptions, TestRunner } from './suite.js';
