/**
 * The HTTP interface apart from any framework, to write a transport on.
 *
 * @packageDocumentation
 */
export type { DocsFile } from './docs-routes.js';
export { ERROR_STATUS, type ErrorCode } from './error-answers.js';
export { HttpError, type HttpErrorCode } from './http-error.js';
export { HttpInterface, type HttpInterfaceOptions } from './http-interface.js';
export type { AnsweredRequest, HttpLog } from './http-log.js';
export type { HttpAnswer, HttpRequest } from './http-message.js';
export { DEFAULT_HTTP_SETTINGS, type HttpSettings } from './http-settings.js';
export { openApiDocument } from './open-api-document.js';
export { Readiness } from './readiness.js';
export { splitRequestTarget, type RequestTarget } from './request-target.js';
export { createRouteFinder, type FoundRoute } from './route-finder.js';
export type { Route } from './route.js';
