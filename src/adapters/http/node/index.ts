/**
 * A listening server for any request listener of Node.js, requests for transports on it, and the files of the docs page.
 *
 * @packageDocumentation
 */
export { readDocsFiles } from './docs-files.js';
export { NodeRequest } from './node-request.js';
export { NodeServer, type NodeServerOptions } from './node-server.js';
export { SERVER_LIMITS, type ServerLimits } from './server-limits.js';
