import type { IncomingMessage } from 'node:http';
import type { HttpError } from '../error-responses.js';
import { malformedRequest } from './raw-answer.js';

/** What the head of a request tells before anything is done with it. */
export interface MessageHead {
  /** What HTTP/1.1 forbids and Node's parser lets through. */
  readonly fault: HttpError | undefined;
  /** Whether a body is announced, of known or unknown length. */
  readonly announcesBody: boolean;
}

/** Reads the raw headers once, by hand: `headers` would build an object of all of them for every request. */
export function readMessageHead({ rawHeaders, httpVersionMajor }: IncomingMessage): MessageHead {
  let hosts = 0;
  let host = '';
  let announcesBody = false;
  const transferEncodings: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') {
      hosts += 1;
      host = value;
    } else if (name.length === 14 && name.toLowerCase() === 'content-length') {
      announcesBody ||= !/^0*$/.test(value);
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      announcesBody = true;
      transferEncodings.push(value.toLowerCase());
    }
  }
  return { fault: headFault(httpVersionMajor, hosts, host, transferEncodings), announcesBody };
}

/**
 * RFC 9112, 3.2: one Host, and of valid form. HTTP/0.9 has neither headers nor a status to answer with. RFC
 * 9112, 6.1: only chunks tell where a body ends; Node finds the others out after the listener was called.
 */
function headFault(
  major: number,
  hosts: number,
  host: string,
  transferEncodings: readonly string[],
): HttpError | undefined {
  if (major !== 1) return malformedRequest('The request is not HTTP/1.1');
  if (hosts !== 1) return malformedRequest('The request needs one Host header');
  if (!/^[\w.~%!$&'()*+,;=:[\]-]*$/.test(host)) return malformedRequest('The Host header is not well-formed');
  if (transferEncodings.length > 0 && transferEncodings.join() !== 'chunked')
    return malformedRequest('The Transfer-Encoding of a body can be chunked only');
  return undefined;
}
