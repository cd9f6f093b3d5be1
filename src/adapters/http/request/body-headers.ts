import { HttpError } from '../http-error.js';
import type { HttpRequest } from '../http-message.js';

/**
 * Judges the headers that describe a body, before any of it is read.
 * @throws {HttpError} `unsupported_media_type`, saying which header to send
 */
export function requireJsonBody(request: HttpRequest): void {
  const type = request.header('content-type');
  if (type !== undefined && mediaType(type) !== 'application/json') {
    throw new HttpError(
      'unsupported_media_type',
      'The body must be JSON: send the header Content-Type: application/json.',
      { Accept: 'application/json' },
    );
  }
  const encoding = request.header('content-encoding');
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw new HttpError(
      'unsupported_media_type',
      'The body must not be compressed: leave out the header Content-Encoding.',
      { 'Accept-Encoding': 'identity' },
    );
  }
}

const mediaType = (contentType: string): string => (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();

/**
 * Decodes a body that says it is JSON: UTF-8, strictly, a byte order mark kept (RFC 8259, 8.1: it is not JSON).
 * @throws {HttpError} `malformed_json` for any other charset and for bytes that are not UTF-8
 */
export function decodeUtf8(bytes: Uint8Array, contentType: string | undefined): string {
  const charset = contentType === undefined ? undefined : charsetOf(contentType);
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new HttpError(
      'malformed_json',
      'The body must be JSON in UTF-8; its Content-Type says another charset.',
    );
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new HttpError(
      'malformed_json',
      'The body must be JSON in UTF-8; it holds bytes that are not UTF-8.',
    );
  }
}

/** The charset parameter of a media type (RFC 9110, 8.3.2), quoted or not; parameters' names have no case. */
function charsetOf(contentType: string): string | undefined {
  for (const [, name, value] of contentType.matchAll(/;\s*([^\s=;]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)/g)) {
    if (name?.toLowerCase() === 'charset') return value?.trim().replaceAll(/^"|"$/g, '');
  }
  return undefined;
}
