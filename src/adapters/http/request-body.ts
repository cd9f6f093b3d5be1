import { InvalidPetError } from '../../domain/errors.js';
import { parseJsonFast } from '../../json.js';
import { HttpError } from './error-responses.js';
import { announcedLength, type HttpRequest } from './http-message.js';
import type { RequestContext } from './routes.js';

/** The media types of a PATCH: a merge patch (RFC 7396). */
export const PATCH_TYPES = ['application/merge-patch+json', 'application/json'];

/** The header of a path that supports PATCH (RFC 5789, 3.1), and of a PATCH whose type is refused (2.2). */
export const ACCEPT_PATCH = { 'Accept-Patch': PATCH_TYPES.join(', ') };

/**
 * Reads a JSON object from the body, with exact integers. The use case checks its members.
 *
 * While the body arrives, the request holds a place for reading instead of one for working, and its deadline stops.
 * Afterwards the deadline starts anew.
 * @param types the media types that the body may have
 * @throws {HttpError} `missing_body`, `unsupported_media_type`, `payload_too_large` or `malformed_json`
 * @throws {InvalidPetError} it is not an object
 */
export async function readJsonObject(
  { request, timer, permit }: RequestContext,
  types: readonly string[],
  bodyLimit: number,
): Promise<object> {
  requireUncompressed(request);
  const wrongType = mediaTypeFault(request, types);
  // An empty body is missing, whatever its type. Without Content-Length, only reading tells that it is empty.
  if (wrongType && announcedLength(request) > 0) throw wrongType;
  const body = await permit.whileReading(async () => {
    timer.pause();
    const received = await request.readBody(bodyLimit);
    timer.restart();
    return received;
  });
  if (body.length === 0) throw new HttpError('missing_body', 'The request needs a JSON body.');
  if (wrongType) throw wrongType;
  return objectIn(typeof body === 'string' ? body : utf8.decode(body));
}

/** Checked before the body is read: some transports would decompress it. */
function requireUncompressed(request: HttpRequest): void {
  const encoding = request.header('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() === 'identity') return;
  throw new HttpError(
    'unsupported_media_type',
    'The body must not be compressed: omit the header Content-Encoding.',
    { 'Accept-Encoding': 'identity' },
  );
}

function mediaTypeFault(request: HttpRequest, types: readonly string[]): HttpError | undefined {
  const [type = 'application/json'] = request.header('content-type')?.split(';', 1) ?? [];
  if (types.includes(type.trim().toLowerCase())) return undefined;
  return new HttpError(
    'unsupported_media_type',
    'The body must be JSON: send the header Content-Type: application/json.',
    { Accept: 'application/json', ...(request.method === 'PATCH' && ACCEPT_PATCH) },
  );
}

const utf8 = new TextDecoder();

const malformedJson = (message: string): HttpError => new HttpError('malformed_json', message);

function objectIn(text: string): object {
  // U+FFFD marks bytes that were not UTF-8. Some transports decode by themselves.
  if (text.includes('\ufffd'))
    throw malformedJson('The body must be JSON in UTF-8; it holds bytes that are not UTF-8.');
  let value: unknown;
  try {
    value = parseJsonFast(text.replace(/^\ufeff/, '')); // a byte order mark
  } catch (error) {
    throw malformedJson(`The body is not JSON. ${(error as SyntaxError).message}.`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new InvalidPetError([{ field: '', message: 'it must be a JSON object' }]);
}
