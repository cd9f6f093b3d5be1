/**
 * The HTTP interface as a function from Request to Response, for every runtime and framework that uses the Fetch
 * standard.
 *
 * @packageDocumentation
 */
export { createFetchHandler } from './fetch-handler.js';
