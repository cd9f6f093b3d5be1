import { InvalidPetError, type Fault } from '../../domain/errors.js';
import { PET_FIELDS, changeFaults, newPetFaults, type NewPet } from '../../domain/pet.js';
import {
  JsonNumber,
  JsonSyntaxError,
  isJsonObject,
  readJson,
  type JsonDocument,
  type JsonValue,
} from '../../exact-json.js';
import { HttpError, detailedError } from './error-responses.js';
import type { HeaderFields, HttpRequest } from './http-message.js';
import { OPERATIONS } from './operations.js';
import { newPetValidator, petChangeValidator } from './schemas.js';

/** The headers of a path that supports PATCH (RFC 5789, 3.1), and of a PATCH whose type is refused (2.2). */
export const ACCEPT_PATCH = { 'Accept-Patch': OPERATIONS.changePet.body.types.join(', ') };

/**
 * Reads the text of a JSON body. Checks in this order: presence, media type, size, charset.
 * @param types the media types that the body may have
 * @throws {HttpError} `missing_body`, `unsupported_media_type`, `payload_too_large` or `malformed_json`
 */
export async function readJsonText(
  request: HttpRequest,
  types: readonly string[],
  bodyLimit: number,
): Promise<string> {
  const unsupported = mediaTypeError(request, types);
  // A chunked body announces no length, but Expect announces a body (RFC 9110, 10.1.1): refused before it is sent.
  if (unsupported && request.header('expect') && request.header('transfer-encoding'))
    throw unsupported;
  let bytes: Uint8Array;
  try {
    bytes = await request.readBody(unsupported ? 0 : bodyLimit);
  } catch (error) {
    throw unsupported ?? error; // it has a first byte
  }
  if (bytes.length === 0) throw new HttpError('missing_body');
  return decodeUtf8(bytes, request.header('content-type'));
}

function mediaTypeError(request: HttpRequest, types: readonly string[]): HttpError | undefined {
  const [type] = request.header('content-type')?.split(';', 1) ?? [];
  if (type !== undefined && !types.includes(type.trim().toLowerCase()))
    return unsupportedBody(request, { Accept: 'application/json' });
  // Empty members of a list are ignored (RFC 9110, 5.6.1.2).
  if (/^(?:identity|[\s,])*$/i.test(request.header('content-encoding') ?? '')) return undefined;
  return unsupportedBody(
    request,
    { 'Accept-Encoding': 'identity' },
    'The body must not be compressed: omit the header Content-Encoding.',
  );
}

const unsupportedBody = (
  { method }: HttpRequest,
  headers: HeaderFields,
  message?: string,
): HttpError =>
  new HttpError('unsupported_media_type', message, {
    ...(method === 'PATCH' && ACCEPT_PATCH),
    ...headers,
  });

const malformedJson = (message: string): HttpError => new HttpError('malformed_json', message);

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Strictly UTF-8. A byte order mark stays, for the parser to refuse (RFC 8259, 8.1). */
function decodeUtf8(bytes: Uint8Array, contentType = ''): string {
  // Quoted values may hold what looks like another parameter (RFC 9110, 5.6.6). One that does not end matches as well:
  // to look for an end from each of its quotes would take seconds.
  const parameters = contentType.replaceAll(/"(?:[^"\\]|\\.)*("?)/g, (quoted, end: string) =>
    end !== '' && quoted.includes(';') ? '' : quoted,
  );
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(parameters) ?? [];
  if (!/^utf-?8$/i.test(charset))
    throw malformedJson('The body must be JSON in UTF-8; its Content-Type says another charset.');
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformedJson('The body must be JSON in UTF-8; it holds bytes that are not UTF-8.');
  }
}

/** How deep a body may be nested. A NewPet needs 1. */
const MAX_DEPTH = 16;

/**
 * Reads the fields of a NewPet from JSON text, with exact integers. Other members are ignored. What passes may still
 * break a rule that no schema can say; the domain words every fault.
 * @throws {HttpError} `malformed_json`: it is not JSON (RFC 8259)
 * @throws {InvalidPetError} naming every fault: also those of JSON, such as repeated members
 */
export function readNewPet(text: string): NewPet {
  const { fields, faults } = readFields(text);
  if (faults.length === 0 && newPetValidator.Check(fields)) return fields;
  throw new InvalidPetError([...faults, ...newPetFaults(fields)]);
}

/**
 * Reads the change of an animal from JSON text. To ignore other members would mislead, so they are refused.
 * @throws {HttpError} `malformed_json`: it is not JSON (RFC 8259)
 * @throws {InvalidPetError} naming every fault, and of other members the first ten
 */
export function readPetChange(text: string): Partial<NewPet> {
  const { fields, others, faults } = readFields(text);
  for (const name of others.slice(0, 10))
    faults.push({ field: printable(`/${name}`), message: 'cannot be changed' });
  if (faults.length === 0 && petChangeValidator.Check(fields)) return fields;
  throw new InvalidPetError([...faults, ...changeFaults(fields)]);
}

/** The fields of an animal in a JSON object, the names of its other members, and its faults as JSON. */
function readFields(text: string) {
  const { value, duplicates, tooDeep } = parse(text);
  const faults = duplicates.map((name): Fault => ({
    field: printable(name),
    message: 'is given twice',
  }));
  if (tooDeep)
    faults.push({ field: '', message: `it must not be nested deeper than ${MAX_DEPTH}` });
  if (!isJsonObject(value))
    throw new InvalidPetError([...faults, { field: '', message: 'it must be a JSON object' }]);

  const fields: Record<string, unknown> = {};
  const others: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    const isField = PET_FIELDS.some((field) => field === name);
    if (isField) fields[name] = withInt64(member);
    else others.push(name);
  }
  return { fields, others, faults };
}

/** `7.0` and `7e2` are integers. Any other number stays as it is, for the domain to refuse. */
const withInt64 = (value: JsonValue): unknown =>
  value instanceof JsonNumber ? (value.toInt64() ?? value) : value;

function parse(text: string): JsonDocument {
  try {
    return readJson(text, MAX_DEPTH);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw detailedError('malformed_json', { fault: error.message });
  }
}

/** The name of a repeated member, for a message. The client chose it, so it is shortened and escaped. */
const printable = (pointer: string): string =>
  /^\/[\w.-]{1,40}$/.test(pointer) ? pointer.slice(1) : JSON.stringify(pointer.slice(0, 60));
