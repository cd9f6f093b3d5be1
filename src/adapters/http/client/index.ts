/**
 * The animal store of a service, over HTTP: a client for Node.js, browsers and whatever else has `fetch`.
 *
 * @packageDocumentation
 */
export { AnimalStoreClient } from './animal-store-client.js';
export type { AnimalStoreClientOptions, Fetch, RetryNotice } from './client-options.js';
export type { DeprecationNotice } from './deprecations.js';
export type { OperationId } from '../operations.js';
export { ServiceError, UnexpectedAnswerError, type AnswerDetails } from './service-error.js';
export type { Timing } from './timing.js';
