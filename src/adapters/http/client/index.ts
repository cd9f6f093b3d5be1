/**
 * A typed client for the animal store of a service, for Node.js, browsers and every other runtime with `fetch`.
 *
 * @packageDocumentation
 */
export { animalStoreClient, type AnimalStoreClient } from './animal-store-client.js';
export type { AnimalStoreClientOptions } from './send-request.js';
export { ServiceError } from './service-error.js';
