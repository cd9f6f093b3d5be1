/**
 * The store that several machines share: a MongoDB server, replica set or sharded cluster.
 *
 * @packageDocumentation
 */
export {
  MissingMongoStoreError,
  MongoUrlError,
  openMongoStore,
  type MongoStore,
} from './open-mongo-store.js';
export type { MongoStoreOptions } from './mongo-connection.js';
