/**
 * The animal store to embed: domain, driving port, driven ports, errors, exact JSON. Importing it loads no adapter, and
 * prints, reads and opens nothing.
 *
 * @packageDocumentation
 */
export type {
  AnimalStore,
  Call,
  CreateCall,
  CreatedPet,
  IdempotencyKey,
  PetPage,
  PetQuery,
} from './application/animal-store.js';
export {
  CopyError,
  copyCatalogue,
  type CopyDependencies,
  type CopyFault,
  type CopyOptions,
  type CopyProgress,
  type CopyReport,
} from './application/copy-catalogue.js';
export {
  PAGE_LIMIT,
  createAnimalStore,
  type AnimalStoreDependencies,
} from './application/create-animal-store.js';
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
  ClaimRange,
  PetClaim,
} from './application/ports/catalogue-transfer.js';
export { systemClock, type Clock } from './application/ports/clock.js';
export type {
  AddedPet,
  AddOptions,
  Claim,
  PetRange,
  PetRepository,
  PetRepositoryCapabilities,
} from './application/ports/pet-repository.js';
export type { FullStore, OpenOptions, Store, StoreFactory } from './application/ports/store.js';
export * from './domain/errors.js';
export { INT64_MAX, INT64_MIN, isInt64, parseInt64, toInt64 } from './domain/int64.js';
export {
  DEFAULT_STATUS,
  MAX_GIVEN_ID,
  PET_STATUSES,
  isPetStatus,
  savedPet,
  unsavedPet,
  type NewPet,
  type Pet,
  type PetStatus,
  type UnsavedPet,
} from './domain/pet.js';
export {
  JsonNumber,
  JsonSyntaxError,
  parse,
  readJson,
  stringify,
  type JsonDocument,
  type JsonValue,
} from './exact-json.js';
