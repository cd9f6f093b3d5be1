/**
 * The store that several machines share: a MongoDB replica set or sharded cluster.
 *
 * @packageDocumentation
 */
export { MongoStoreError } from './mongo-errors.js';
export { mongoStoreFactory } from './mongo-store-factory.js';
export { openMongoStore } from './open-mongo-store.js';
