/** Stores in the memory of the process. */
export { MemoryApiKeyRepository } from './memory-api-key-repository.js';
export { MemoryPetRepository } from './memory-pet-repository.js';
