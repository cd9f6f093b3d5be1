/**
 * The contract suites: what every adapter of a port promises, as data for any test runner. Imports no test runner, and
 * no assertion library except `node:assert`.
 *
 * @packageDocumentation
 */
export { animalStoreContract, type AnimalStoreSubject } from './animal-store-contract.js';
export { apiKeyRepositoryContract } from './api-key-repository-contract.js';
export { DIGEST_TWINS, authenticatorContract, type AuthenticatorSubject } from './authenticator-contract.js';
export { bindContract, bindToJest, type JestRunner, type TestRunner } from './bind-contract.js';
export { catalogueTransferContract } from './catalogue-transfer-contract.js';
export type {
  CaseContext,
  CaseResult,
  Contract,
  ContractCase,
  Judgement,
  Open,
  Subject,
} from './contract.js';
export {
  SITUATIONS,
  environmentOf,
  fetchSubjects,
  httpContract,
  listenerSubjects,
  serviceSubjects,
  wireHttp,
  type RawResponse,
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
export { runContract, type RunContractOptions, type RunOptions } from './run-contract.js';
export { petRepositoryContract, storeContracts } from './store-contracts.js';
export type { StorePorts, StoreSubject } from './store-subject.js';
