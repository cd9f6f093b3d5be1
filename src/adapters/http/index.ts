/**
 * The HTTP interface apart from any framework, to write a transport on.
 *
 * @packageDocumentation
 */
export { BusyError, type Admission, type Permit } from './admission.js';
export { loadOpenApiDocument, type DocsFile } from './docs-routes.js';
export type { ErrorCode } from './error-codes.js';
export { HttpError } from './error-responses.js';
export { Readiness } from './health.js';
export { HttpInterface, type HttpInterfaceOptions } from './http-interface.js';
export type { HttpLog, RespondedRequest } from './http-log.js';
export type { HttpRequest, HttpResponse } from './http-message.js';
export type { HttpSettings } from './http-settings.js';
export type { RateLimiter } from './rate-limit.js';
export type { FoundRoute, Route } from './routes.js';
