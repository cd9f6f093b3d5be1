/**
 * The store that several machines share: a MongoDB server, replica set or sharded cluster.
 *
 * @packageDocumentation
 */
export type { MongoStoreOptions } from './mongo-connection.js';
export { MissingMongoStoreError, MongoUrlError, openMongoStore } from './open-mongo-store.js';
