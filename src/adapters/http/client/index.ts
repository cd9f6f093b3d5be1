/**
 * A typed client for the animal store of a service, for Node.js, browsers and every other runtime with `fetch`.
 *
 * @packageDocumentation
 */
export { AnimalStoreClient } from './animal-store-client.js';
export type { AnimalStoreClientOptions } from './client-options.js';
export { ServiceError } from './service-error.js';
