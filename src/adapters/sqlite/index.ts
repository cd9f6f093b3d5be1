/**
 * The embedded, durable store: one SQLite file, by the built-in `node:sqlite`.
 *
 * @packageDocumentation
 */
export { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from './open-sqlite-store.js';
export type { SqliteApiKeyRepository } from './sqlite-api-key-repository.js';
export type { SqliteCatalogueTransfer } from './sqlite-catalogue-transfer.js';
export type { SqlitePetRepository } from './sqlite-pet-repository.js';
export { StoreFileError } from './store-file-error.js';
