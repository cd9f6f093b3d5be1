/**
 * The HTTP interface apart from any framework, to write a transport on.
 *
 * @packageDocumentation
 */
export type { DocsFile } from './routes/docs-routes.js';
export { ERROR_STATUS, type ErrorCode } from './answer/error-answers.js';
export { HttpError, type HttpErrorCode } from './http-error.js';
export { HttpInterface, type HttpInterfaceOptions } from './http-interface.js';
export type { AnsweredRequest, HttpLog } from './http-log.js';
export type { HttpAnswer, HttpRequest } from './http-message.js';
export { DEFAULT_HTTP_SETTINGS, type HttpSettings } from './http-settings.js';
export { openApiDocument } from './open-api/open-api-document.js';
export { Readiness } from './routes/readiness.js';
export { splitRequestTarget, type RequestTarget } from './request/request-target.js';
export { createRouteFinder, type FoundRoute } from './routes/route-finder.js';
export type { Route } from './routes/route.js';
