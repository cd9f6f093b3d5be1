import { STATUS_CODES, type IncomingMessage } from 'node:http';
import { HttpError } from '../error-responses.js';
import {
  safeRequestId,
  splitRequestTarget,
  type HttpRequest,
  type HttpResponse,
} from '../http-message.js';
import { valuesOf } from './node-request.js';

/** What the server knows of a request that it answers itself. A method or path that it cannot read is `-`. */
export interface RefusedRequest extends Pick<HttpRequest, 'method' | 'path' | 'header'> {
  /** Its request id if it sent a valid one, else a new one. */
  readonly id: string;
}

export function refusedRequest(request: IncomingMessage): RefusedRequest {
  const { method = '-', url = '-', headers } = request;
  const header = (name: string): string | undefined => headers[name]?.toString();
  return {
    id: safeRequestId(header('x-request-id')),
    method,
    path: splitRequestTarget(url).path,
    header,
  };
}

/** A request that Node.js could not parse, from the bytes in which it found the fault. */
export function unparsedRequest(bytes: Buffer | undefined): RefusedRequest {
  const text = bytes?.toString('latin1') ?? '';
  const header = (name: string): string | undefined => {
    // A pattern that also trims takes seconds for many blanks (ReDoS).
    const pattern = new RegExp(`^${name}:(.*)`, 'im');
    return pattern.exec(text)?.[1]?.trim();
  };
  return {
    id: safeRequestId(header('x-request-id')),
    method: '-',
    path: '-',
    header,
  };
}

export type ParserError = Error & { readonly code?: string; readonly rawPacket?: Buffer };

/** What Node's parser found wrong, as an error of the interface. */
export function parserFault({ code }: ParserError): HttpError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new HttpError('headers_too_large', 'The request line and headers are too large.');
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return new HttpError('payload_too_large', 'The chunk extensions of the body are too large.');
  return malformed('The request is not valid HTTP/1.1.');
}

/** What HTTP/1.1 forbids in the headers of a request, and Node's parser accepts. */
export function requestFault(request: IncomingMessage): HttpError | undefined {
  const { headers, rawHeaders, httpVersion } = request;
  // Node's parser also accepts HTTP/0.9 and 2.0.
  if (!httpVersion.startsWith('1.')) return malformed('The request is not HTTP/1.1.');
  const hosts = valuesOf(rawHeaders, 'host').length;
  const isHttp10 = httpVersion === '1.0';
  // HTTP/1.0 needs none: health checks of load balancers send it so.
  if (hosts > 1 || (hosts === 0 && !isHttp10))
    return malformed('The request needs exactly one Host header.');
  if (!/^[\w.~%!$&'()*+,;=:[\]-]*$/.test(headers.host ?? ''))
    return malformed('The Host header is invalid.');
  const encoding = headers['transfer-encoding'];
  const isChunked = encoding?.toLowerCase() === 'chunked';
  // Node reports other encodings only after the listener was called (RFC 9112, 6.1).
  if (encoding === undefined || (isChunked && !isHttp10)) return undefined;
  return malformed('The only supported Transfer-Encoding is chunked, in HTTP/1.1.');
}

const malformed = (message: string): HttpError => new HttpError('malformed_request', message);

/** The last response of a connection, as it goes over the wire. */
export function lastResponse({ status, headers, body }: HttpResponse, method: string): string {
  const all = {
    ...headers,
    Date: new Date().toUTCString(),
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const content = method === 'HEAD' ? '' : String(body);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${content}`;
}
