/**
 * For embedding the animal store: `createAnimalStore`, the domain, ports, errors and exact JSON. Importing it loads no
 * adapter, and prints, reads and opens nothing.
 *
 * @packageDocumentation
 */
export type {
  AnimalStore,
  ChangeOptions,
  CreateOptions,
  CreatedPet,
  ExperimentalAnimalStore,
  IdempotencyKey,
  PetPage,
  PetQuery,
} from './application/animal-store.js';
export type { CallOptions } from './application/call-options.js';
export {
  createAnimalStore,
  type AnimalStoreDependencies,
} from './application/create-animal-store.js';
export type { ApiKeyRecord, ApiKeyRepository } from './application/ports/api-key-repository.js';
export {
  SCOPES,
  type Authentication,
  type Authenticator,
  type Principal,
  type Scope,
} from './application/ports/authenticator.js';
export type { CatalogueTransfer } from './application/ports/catalogue-transfer.js';
export type { Clock } from './application/ports/clock.js';
export type { PetChanges } from './application/ports/pet-changes.js';
export {
  CLOCK_TOLERANCE,
  type Claim,
  type PetRange,
  type PetRepository,
} from './application/ports/pet-repository.js';
export type { OpenMode, OpenOptions, Store, StoreFactory } from './application/ports/store.js';
export {
  AnimalStoreError,
  IdempotencyConflictError,
  IdempotencyKeyReusedError,
  InvalidParameterError,
  InvalidPetError,
  PetNotFoundError,
  StatusConflictError,
  UnavailableError,
  isAnimalStoreError,
  type AnimalStoreErrorCode,
  type AnyAnimalStoreError,
  type Fault,
} from './domain/errors.js';
export { parseInt64 } from './domain/int64.js';
export { fingerprintOf, petWithId, type NewPet, type Pet, type UnsavedPet } from './domain/pet.js';
export { PET_STATUSES, type PetStatus } from './domain/pet-status.js';
export { parseJson, stringifyJson } from './json.js';
