/**
 * The contract suites: the clauses of every port, as data for any test runner. Imports no test runner, and
 * no assertion library except `node:assert`.
 *
 * @packageDocumentation
 */
export type { AnimalStoreSubject } from './animal-store/subject.js';
export {
  DIGEST_TWINS,
  authenticatorContract,
  type AuthenticatorSubject,
} from './authenticator-contract.js';
export { bindContract, type TestRunner } from './bind-contract.js';
export type { CaseResult, Contract, ContractCase, Open, Subject } from './contract.js';
export { httpTests, type HttpTestOptions } from './http/http-tests.js';
export type { HttpService } from './http/tested-service.js';
export { runContract, type RunOptions } from './run-contract.js';
export { animalStoreContract, petRepositoryContract, storeContracts } from './store-contracts.js';
export { storeFactoryContract, type StoreFactorySubject } from './store-factory-contract.js';
export { storeSubject, type OpenStore, type StoreSubject } from './store-subject.js';
