/**
 * The contract suites: what every adapter of a port has to keep, as data for any test runner. Imports no
 * runner and no assertion library but `node:assert`.
 */
export { animalStoreContract, type AnimalStoreSubject } from './animal-store-contract.js';
export { apiKeyRepositoryContract, type ApiKeyRepositorySubject } from './api-key-repository-contract.js';
export { authenticatorContract, type AuthenticatorSubject } from './authenticator-contract.js';
export {
  catalogueTransferContract,
  type CatalogueHandles,
  type CatalogueTransferSubject,
} from './catalogue-transfer-contract.js';
export {
  deprecatedCallRepositoryContract,
  type DeprecatedCallRepositorySubject,
} from './deprecated-call-repository-contract.js';
export { bindToMocha, type Mocha, type MochaContext } from './bind-to-mocha.js';
export {
  runCase,
  runContract,
  type CaseResult,
  type Contract,
  type ContractCase,
  type Subject,
} from './contract.js';
export { petRepositoryContract, type PetRepositorySubject } from './pet-repository-contract.js';
