/** Every code of an error that only HTTP knows. Public, like those of the domain: a change is a breaking change. */
export type HttpErrorCode =
  | 'malformed_request'
  | 'malformed_json'
  | 'missing_body'
  | 'missing_api_key'
  | 'invalid_api_key'
  | 'insufficient_scope'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'operation_removed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'expectation_failed'
  | 'headers_too_large'
  | 'request_timeout'
  | 'rate_limited'
  | 'internal_error';

/** A request that HTTP itself refuses. The message goes to the client; headers go with the answer. */
export class HttpError extends Error {
  /** Always this text: a class's own name is lost where code is minified. */
  override readonly name = 'HttpError';
  /** What is wrong with the request; `ERROR_STATUS` has the status that goes with it. */
  readonly code: HttpErrorCode;
  /**
   * Headers of the answer beyond those that every error has, such as Allow; names in their usual spelling.
   */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: HttpErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

/** What transports find out, in the words that all of them use. */
export const payloadTooLarge = (limit: number): HttpError =>
  new HttpError('payload_too_large', `The body is larger than ${limit} bytes.`);

export const clientGone = (): HttpError => new HttpError('request_timeout', 'The client went away.');
