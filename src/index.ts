/**
 * The animal store to embed: domain, driving port, driven ports, errors, exact JSON. No adapter is loaded
 * by importing this, and nothing is printed, read or opened.
 *
 * @packageDocumentation
 */
export type {
  AnimalStore,
  CreateCall,
  CreatedPet,
  PetPage,
  PetQuery,
  RequestToken,
} from './application/animal-store.js';
export type { Call } from './application/call.js';
export {
  copyCatalogue,
  type CopyDependencies,
  type CopyOptions,
  type CopyProgress,
  type CopyReport,
} from './application/copy-catalogue.js';
export { CopyError, type CopyFault } from './application/copy-error.js';
export { createAnimalStore, type AnimalStoreDependencies } from './application/create-animal-store.js';
export {
  DeprecatedCallCounter,
  type DeprecatedCall,
  type DeprecatedCallCounterOptions,
  type DeprecatedCallLog,
} from './application/deprecated-call-counter.js';
export { PAGE_LIMIT } from './application/list-pets.js';
export type { ApiKeyRecord, ApiKeyRepository } from './application/ports/api-key-repository.js';
export {
  SCOPES,
  isScope,
  type Authentication,
  type Authenticator,
  type Principal,
  type Scope,
} from './application/ports/authenticator.js';
export type {
  CatalogueSurvey,
  CatalogueTransfer,
  ClaimBatch,
  KeptClaim,
  PetBatch,
} from './application/ports/catalogue-transfer.js';
export { systemClock, type Clock } from './application/ports/clock.js';
export type {
  DeprecatedCallBatch,
  DeprecatedCallQuery,
  DeprecatedCallRepository,
  DeprecatedCalls,
} from './application/ports/deprecated-call-repository.js';
export type {
  Added,
  AddOptions,
  Claim,
  PetRange,
  PetRepository,
  PetRepositoryCapabilities,
} from './application/ports/pet-repository.js';
export * from './domain/errors.js';
export { INT64_MAX, INT64_MIN, isInt64, parseInt64, toInt64 } from './domain/int64.js';
export {
  DEFAULT_STATUS,
  savedPet,
  unsavedPet,
  type NewPet,
  type Pet,
  type UnsavedPet,
} from './domain/pet.js';
export { PET_STATUSES, isPetStatus, type PetStatus } from './domain/pet-status.js';
export {
  JsonNumber,
  JsonSyntaxError,
  parse,
  readJson,
  stringify,
  type JsonDocument,
  type JsonValue,
  type ReadJsonOptions,
} from './exact-json.js';
