/**
 * The HTTP interface as a function from Request to Response, for every runtime and framework that has these.
 *
 * @packageDocumentation
 */
export { createFetchHandler } from './fetch-handler.js';
