/**
 * A typed client for the animal store of a service, for Node.js, browsers and every other runtime with `fetch`.
 *
 * @packageDocumentation
 */
export type { OperationId } from '../operations.js';
export { AnimalStoreClient } from './animal-store-client.js';
export type { AnimalStoreClientOptions, RetryNotice } from './client-options.js';
export { ResponseError, ServiceError, UnexpectedResponseError } from './response-errors.js';
