import { STATUS_CODES } from 'node:http';
import { HttpError, errorResponse, type ErrorCode } from '../error-responses.js';
import { requestId } from '../request-headers.js';
import { commonHeaders } from '../response-headers.js';

/** What Node's parser found wrong, as an error of the interface. */
export function parserError(error: NodeJS.ErrnoException): HttpError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new HttpError('headers_too_large', 'The request line and headers are too large.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new HttpError('payload_too_large', 'The chunk extensions of the body are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpError('request_timeout', 'The request did not come in time.');
    default:
      return malformedRequest('The request is not well-formed HTTP/1.1');
  }
}

export const malformedRequest = (fault: string): HttpError => new HttpError('malformed_request', `${fault}.`);

/** An error's answer: status, headers and body, the connection to be closed after it. */
export interface ClosingAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly code: ErrorCode;
  readonly requestId: string;
}

export function closingAnswer(error: HttpError, sentRequestId?: string): ClosingAnswer {
  const id = requestId(sentRequestId);
  const { status, headers, body, code } = errorResponse(error, id);
  const length = String(Buffer.byteLength(body));
  return {
    status,
    headers: { ...commonHeaders(id), ...headers, 'Content-Length': length, Connection: 'close' },
    body,
    code,
    requestId: id,
  };
}

/** The same as the bytes of an HTTP/1.1 message, for a connection on which Node made no response object. */
export function asBytes({ status, headers, body }: ClosingAnswer): string {
  const lines = Object.entries({ ...headers, Date: new Date().toUTCString() }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}
