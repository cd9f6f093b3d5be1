/**
 * The HTTP interface without any framework: the base for a transport. In comments, the host is the program that embeds
 * it.
 *
 * @packageDocumentation
 */
export { BusyError, type Admission, type Permit } from './admission.js';
export type { DocsFile } from './docs-page/docs-routes.js';
export { HttpError, type ErrorCode, type HttpErrorCode } from './error-responses.js';
export { Readiness } from './health.js';
export { HttpInterface, type HttpInterfaceOptions } from './http-interface.js';
export type { HttpLog, RespondedRequest } from './http-log.js';
export type { HttpRequest, HttpResponse } from './http-message.js';
export type { GivenHttpSettings, HttpSettings } from './http-settings.js';
export type { FoundRoute, Route } from './routes.js';
