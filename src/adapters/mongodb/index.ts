/**
 * The store that several machines share: a MongoDB server, replica set or sharded cluster.
 *
 * @packageDocumentation
 */
export type { MongoStoreOptions } from './mongo-connection.js';
export { mongoStoreFactory } from './mongo-store-factory.js';
export { MongoStoreError, openMongoStore } from './open-mongo-store.js';
