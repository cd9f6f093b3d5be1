/**
 * The embedded, durable store: one SQLite file, by the built-in `node:sqlite`.
 *
 * @packageDocumentation
 */
export { openSqliteStore } from './open-sqlite-store.js';
export { StoreFileError } from './store-file.js';
