import { STATUS_CODES, type IncomingMessage } from 'node:http';
import { HttpError } from '../http-error.js';

/** What is known of a request that the server answers by itself. */
export interface RefusedRequest {
  /** As sent; `-` if it could not be read. */
  readonly method: string;
  /** As sent, without the query; `-` if it could not be read. */
  readonly path: string;
  /** The value of a header, named in lower case. */
  header(name: string): string | undefined;
}

export function refusedRequest({ method = '-', url = '-', headers }: IncomingMessage): RefusedRequest {
  const [path = '-'] = url.split('?', 1);
  return { method, path, header: (name) => headers[name]?.toString() };
}

/** A request that Node could not parse, from the bytes in which it found the fault. */
export function unparsedRequest(bytes: Buffer | undefined): RefusedRequest {
  const text = bytes?.toString('latin1') ?? '';
  const header = (name: string): string | undefined =>
    new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*\\r?$`, 'im').exec(text)?.[1];
  return { method: '-', path: '-', header };
}

/** What Node's parser or a timeout found wrong, as an error of the interface. */
export function parserFault(error: NodeJS.ErrnoException): HttpError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new HttpError('headers_too_large', 'The request line and headers are too large.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new HttpError('payload_too_large', 'The chunk extensions of the body are too large.');
    default:
      return malformed('The request is not valid HTTP/1.1');
  }
}

/** What HTTP/1.1 forbids in the headers of a request and Node's parser accepts. */
export function headFault(request: IncomingMessage): HttpError | undefined {
  const { rawHeaders, headers, httpVersion, httpVersionMajor } = request;
  // HTTP/0.9 has neither headers nor a status to answer with.
  if (httpVersionMajor !== 1) return malformed('The request is not HTTP/1.1');
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts !== 1) return malformed('The request needs exactly one Host header');
  if (!/^[\w.~%!$&'()*+,;=:[\]-]*$/.test(headers.host ?? '')) return malformed('The Host header is invalid');
  // Node reports another encoding only after the listener was called (RFC 9112, 6.1).
  const encoding = headers['transfer-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
    return malformed('The only supported Transfer-Encoding is chunked');
  }
  if (headers.expect !== undefined && httpVersion === '1.1' && !/^100-continue$/i.test(headers.expect)) {
    return new HttpError('expectation_failed', 'The only supported expectation is 100-continue.');
  }
  return undefined;
}

const malformed = (fault: string): HttpError => new HttpError('malformed_request', `${fault}.`);

/** A last response, after which the connection closes, as it goes over the wire. */
export function lastResponse(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
  method: string,
): string {
  const lines = Object.entries({
    ...headers,
    Date: new Date().toUTCString(),
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const statusLine = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  return `${statusLine}${lines.join('')}\r\n${method === 'HEAD' ? '' : body}`;
}
