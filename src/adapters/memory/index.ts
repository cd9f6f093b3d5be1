/**
 * A store in the memory of the process: for tests, demos, and as the reference to copy from.
 *
 * @packageDocumentation
 */
export { memoryStoreFactory, openMemoryStore } from './memory-store.js';
