/**
 * The store that several machines share: a MongoDB server, replica set or sharded cluster.
 *
 * @packageDocumentation
 */
export type { MongoStoreOptions } from './mongo-connection.js';
export { MissingMongoStoreError, MongoUrlError, mongoUrlFault, openMongoStore } from './open-mongo-store.js';
