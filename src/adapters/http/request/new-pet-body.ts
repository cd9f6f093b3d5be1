import { InvalidPetError, type Fault } from '../../../domain/errors.js';
import type { NewPet } from '../../../domain/pet.js';
import { JsonNumber, JsonSyntaxError, readJson, type JsonDocument } from '../../../exact-json.js';
import { HttpError } from '../http-error.js';
import { isNewPet, newPetFaults } from '../schemas.js';

/** How deep a body may be nested; a NewPet needs 1. */
const MAX_DEPTH = 16;

/**
 * Reads the text of a request body as a NewPet. Members that the interface does not name are dropped.
 * @throws {HttpError} `malformed_json`: not JSON by RFC 8259, wherever in it the fault is
 * @throws {InvalidPetError} JSON, but no NewPet; every fault in one message
 */
export function readNewPet(text: string): NewPet {
  const { value, duplicates, tooDeep } = read(text);
  const faults: Fault[] = duplicates.map((pointer) => ({
    field: fieldOf(pointer),
    message: 'is given twice',
  }));
  if (tooDeep) faults.push({ field: '', message: `it must not be nested deeper than ${MAX_DEPTH}` });
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof JsonNumber) {
    throw new InvalidPetError([...faults, { field: '', message: 'it must be a JSON object' }]);
  }
  const candidate: Record<string, unknown> = {};
  for (const field of ['name', 'categoryId', 'status']) {
    if (Object.hasOwn(value, field)) candidate[field] = decided(value[field]);
  }
  if (isNewPet(candidate) && faults.length === 0) return candidate;
  throw new InvalidPetError([...faults, ...newPetFaults(candidate)]);
}

function read(text: string): JsonDocument {
  try {
    return readJson(text, { maxDepth: MAX_DEPTH });
  } catch (error) {
    if (error instanceof JsonSyntaxError) {
      throw new HttpError('malformed_json', `The body is not JSON. ${error.message}.`);
    }
    throw error;
  }
}

/** A number as the int64 it denotes (`7.0` and `7e2` are integers), or as it is, for the rules to refuse. */
const decided = (value: unknown): unknown =>
  value instanceof JsonNumber ? (value.toInt64() ?? value) : value;

/** A JSON Pointer as a field's name, made short and printable: it goes into a message, and was chosen by the client. */
function fieldOf(pointer: string): string {
  const name = /^\/[\w.-]{1,40}$/.test(pointer) ? pointer.slice(1) : JSON.stringify(pointer.slice(0, 60));
  return name;
}
