/**
 * The contract suites: what every adapter of a port has to keep, as data for any test runner. Imports no test
 * runner, and no assertion library but `node:assert`.
 *
 * @packageDocumentation
 */
export { animalStoreContract, type AnimalStoreSubject } from './animal-store-contract.js';
export { apiKeyRepositoryContract, type ApiKeyRepositorySubject } from './api-key-repository-contract.js';
export { authenticatorContract, type AuthenticatorSubject } from './authenticator-contract.js';
export { bindContract, type TestRunner } from './bind-contract.js';
export { bindToJest, type JestRunner } from './bind-to-jest.js';
export {
  catalogueTransferContract,
  type CatalogueHandles,
  type CatalogueTransferSubject,
} from './catalogue-transfer-contract.js';
export {
  undeclaredCapabilities,
  type Capability,
  type CaseContext,
  type CaseResult,
  type Contract,
  type ContractCase,
  type Open,
  type Subject,
} from './contract.js';
export {
  deprecatedCallRepositoryContract,
  type DeprecatedCallRepositorySubject,
} from './deprecated-call-repository-contract.js';
export type { MoreHandles } from './handles.js';
export {
  SITUATIONS,
  environmentOf,
  fetchSubjects,
  httpContract,
  listenerSubjects,
  serviceSubjects,
  wireHttp,
  type Answer,
  type Conversation,
  type Header,
  type HttpKeys,
  type HttpSubject,
  type MaybePromise,
  type OpenHttp,
  type RawRequest,
  type RowRequest,
  type RunningService,
  type Situation,
  type SituationSetup,
  type StoreFault,
  type Wanted,
  type WiredHttp,
} from './http-contract.js';
export { petRepositoryContract, type PetRepositorySubject } from './pet-repository-contract.js';
export { runContract, type RunContractOptions } from './run-contract.js';
export { storeContracts, type StoreHandles, type StoreSubject } from './store-contracts.js';
export type { RunOptions } from './suite.js';
