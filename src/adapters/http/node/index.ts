/**
 * A listening server for any request listener of Node.js, admission control for an interface that it serves, the animal
 * store as such a listener, requests for other transports on `node:http`, and the files of the docs page.
 *
 * @packageDocumentation
 */
export { AdmissionControl } from './admission-control.js';
export { readDocsFiles } from './docs-files.js';
export { NodeRequest, createNodeListener } from './node-request.js';
export { NodeServer, type NodeServerOptions } from './node-server.js';
export { SERVER_LIMITS } from './server-limits.js';
