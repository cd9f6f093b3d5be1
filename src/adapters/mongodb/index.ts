/**
 * The store that several machines share: a MongoDB server, replica set or sharded cluster.
 *
 * @packageDocumentation
 */
export type { MongoApiKeyRepository } from './mongo-api-key-repository.js';
export type { MongoCatalogueTransfer } from './mongo-catalogue-transfer.js';
export type { MongoPetRepository } from './mongo-pet-repository.js';
export { MongoUrlError } from './mongo-url.js';
export {
  MissingMongoStoreError,
  openMongoStore,
  type MongoStore,
  type MongoStoreOptions,
} from './open-mongo-store.js';
