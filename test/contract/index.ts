/**
 * The contract suites: the clauses of every port as tests, for any test runner. They import no test runner, and no
 * assertion library except `node:assert`.
 *
 * @packageDocumentation
 */
export { animalStoreTests, type OpenedAnimalStore } from './animal-store/animal-store-tests.js';
export { apiKeyRepositoryTests } from './api-key-repository-tests.js';
export { authenticatorTests, type OpenedAuthenticator } from './authenticator-tests.js';
export { bindContract } from './bind-contract.js';
export { catalogueTransferTests } from './catalogue-transfer-tests.js';
export type { CaseResult, Contract, ContractCase, Open, Subject } from './contract.js';
export { httpContract, resourceContract } from './http-contract.js';
export type { Conversation } from './http/conversation.js';
export {
  fetchSubjects,
  listenerSubjects,
  serviceSubjects,
  type HttpSubject,
} from './http/http-subjects.js';
export type { RowRequest } from './http/request-row.js';
export { SITUATIONS, environmentOf, type HttpKeys, type Situation } from './http/wire-http.js';
export { petChangesTests } from './pet-changes-tests.js';
export { petRepositoryTests } from './pet-repository/pet-repository-tests.js';
export { runContract, type RunOptions } from './run-contract.js';
export type { Handles, Opened, PortSuite, StoreSuite } from './store-subject.js';
export { storeTests } from './store-tests.js';
export type { SuiteOptions, TestRunner } from './suite.js';
