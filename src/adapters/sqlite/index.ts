/**
 * The embedded, durable store: one SQLite file, by the built-in `node:sqlite`.
 *
 * @packageDocumentation
 */
export { openSqliteStore } from './open-sqlite-store.js';
export { backUpSqliteStore, restoreSqliteStore } from './sqlite-backup.js';
export { sqliteStoreFactory } from './sqlite-store-factory.js';
export { StoreFileError } from './store-file-error.js';
