/**
 * A store in the memory of the process: for tests, demos, and as a model for adapters.
 *
 * @packageDocumentation
 */
export { memoryStoreFactory, openMemoryStore } from './memory-store.js';
