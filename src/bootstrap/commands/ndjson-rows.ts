import type { ImportRow } from '../../application/import-pets.js';
import {
  JsonNumber,
  isJsonObject,
  readJson,
  type JsonDocument,
  type JsonValue,
} from '../../exact-json.js';
import { UsageError } from './command-line.js';
import { addUnread, folded, shownName, type PetFile } from './pet-file.js';

/**
 * Reads each line that is not blank as an animal.
 * @throws {UsageError} there are lines, and all are blank.
 */
export async function* ndjsonRows(
  chunks: AsyncIterable<readonly string[]>,
  { columns, name, unread }: PetFile,
): AsyncGenerator<readonly ImportRow[]> {
  const wanted = new Map([...columns].map(([field, member]) => [folded(member), field]));
  let line = 0;
  let hasText = false;
  let hasRows = false;
  for await (const lines of chunks) {
    const rows: ImportRow[] = [];
    for (const text of lines) {
      line += 1;
      hasText ||= text !== '';
      if (text.trim() !== '') rows.push({ line, fields: fieldsIn(text, wanted, unread) });
    }
    hasRows ||= rows.length > 0;
    yield rows;
  }
  if (hasText && !hasRows) throw new UsageError(`${name} has blank lines only.`);
}

/** Returns the fields of an animal in a line, or why it cannot. */
function fieldsIn(
  line: string,
  wanted: ReadonlyMap<string, string>,
  unread: Set<string>,
): ImportRow['fields'] {
  let document: JsonDocument;
  try {
    document = readJson(line.replace(/[\r\n]+$/, ''));
  } catch (error) {
    return `The line is not valid JSON. ${(error as SyntaxError).message}.`;
  }
  const { value: animal, duplicates } = document;
  if (!isJsonObject(animal)) return 'The line is not a JSON object.';
  const [repeated] = duplicates;
  if (repeated !== undefined) return `Member ${shownName(repeated)} is repeated.`;
  const fields = new Map<string, unknown>();
  for (const [name, value] of Object.entries(animal)) {
    const member = folded(name);
    const field = wanted.get(member);
    if (field === undefined) addUnread(unread, name.trim() || '""');
    else if (fields.has(field)) return `The line has several members ${member}.`;
    else fields.set(field, fieldValue(value));
  }
  return Object.fromEntries(fields);
}

/** Null says nothing of a field. `7.0` is an integer. */
function fieldValue(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return value.toInt64() ?? value;
  return value ?? undefined;
}
