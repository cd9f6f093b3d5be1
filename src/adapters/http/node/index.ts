/**
 * The animal store on `node:http`: `createNodeListener` makes it a request listener, `NodeServer` serves any listener,
 * `AdmissionControl` bounds the requests in progress. `NodeRequest` is for other transports, `readDocsFiles` for the
 * docs page.
 *
 * @packageDocumentation
 */
export { AdmissionControl } from './admission-control.js';
export { readDocsFiles } from './docs-files.js';
export { createNodeListener } from './node-listener.js';
export { NodeRequest } from './node-request.js';
export { NodeServer, type NodeServerOptions } from './node-server.js';
export { SERVER_LIMITS } from './server-limits.js';
