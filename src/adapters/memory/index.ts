/**
 * Stores in the memory of the process.
 *
 * @packageDocumentation
 */
export { MemoryApiKeyRepository } from './memory-api-key-repository.js';
export { MemoryCatalogue } from './memory-catalogue.js';
export { MemoryCatalogueTransfer } from './memory-catalogue-transfer.js';
export { MemoryDeprecatedCallRepository } from './memory-deprecated-call-repository.js';
export { MemoryPetRepository } from './memory-pet-repository.js';
