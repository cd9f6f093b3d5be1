import { isUtf8 } from 'node:buffer';
import { parse, type Options } from 'csv-parse';
import type { PetFields, ImportRow } from '../../application/import-pets.js';
import { isInt64, parseInt64 } from '../../domain/int64.js';
import { PET_RULES, newPetFaults, type Pet } from '../../domain/pet.js';
import { JsonNumber, JsonSyntaxError, readJson } from '../../exact-json.js';
import { UsageError } from './command-line.js';

/** How a file of animals is written. */
export interface RowsOptions {
  /** For messages. */
  readonly name: string;
  readonly isCsv: boolean;
  /** The fields to read, with their names in the file. */
  readonly columns: ReadonlyMap<keyof Pet, string>;
}

/** The longest record, in bytes. */
const MAX_LENGTH = 1024 * 1024;

/**
 * Reads the rows of a file chunk by chunk, without blank lines and the header.
 * @throws {UsageError} it is not text in UTF-8, or a CSV file without the columns.
 */
export async function* readRows(
  content: AsyncIterable<Buffer>,
  options: RowsOptions,
): AsyncGenerator<readonly ImportRow[]> {
  let reader: RowReader | undefined;
  for await (const text of wholeLines(content, options.name)) {
    reader ??= options.isCsv ? csvReader(text, options) : jsonReader(options);
    yield reader.read(text);
  }
  if (reader === undefined && options.isCsv) throw new UsageError(`${options.name} is empty.`);
  yield (await reader?.end?.()) ?? [];
}

interface RowReader {
  /** Reads whole lines. Keeps the beginning of a record that goes on. */
  readonly read: (text: string) => ImportRow[];
  /** Reads what is left. */
  readonly end?: () => Promise<ImportRow[]>;
}

/** The text of a file, in chunks of whole lines. */
async function* wholeLines(content: AsyncIterable<Buffer>, name: string): AsyncGenerator<string> {
  let [rest, line] = [Buffer.alloc(0), 1];
  const text = (bytes: Buffer): string => {
    for (let start = 0; start < bytes.length; line += 1) {
      const end = bytes.indexOf('\n', start) + 1 || bytes.length;
      if (end - start > MAX_LENGTH) throw new UsageError(`Line ${line} of ${name} is longer than 1 MiB.`);
      if (!isUtf8(bytes.subarray(start, end))) throw new UsageError(`Line ${line} of ${name} is not UTF-8.`);
      start = end;
    }
    return bytes.toString();
  };
  for await (const chunk of content) {
    const bytes = Buffer.concat([rest, chunk]);
    const end = bytes.length > MAX_LENGTH ? bytes.length : bytes.lastIndexOf('\n') + 1;
    rest = bytes.subarray(end);
    if (end > 0) yield text(bytes.subarray(0, end));
  }
  if (rest.length > 0) yield `${text(rest)}\n`;
}

/** Each line is a JSON object. */
function jsonReader({ columns }: RowsOptions): RowReader {
  let line = 0;
  const rowsOf = (text: string): ImportRow[] => {
    line += 1;
    const content = line === 1 ? text.replace(/^\ufeff/, '') : text;
    return /^[ \t\r]*$/.test(content) ? [] : [{ line, fields: fieldsOfJson(content, columns) }];
  };
  return { read: (text) => text.split('\n').slice(0, -1).flatMap(rowsOf) };
}

function fieldsOfJson(text: string, columns: RowsOptions['columns']): PetFields | string {
  try {
    const { value, duplicates, tooDeep } = readJson(text);
    if (Object(value) !== value || Array.isArray(value) || value instanceof JsonNumber)
      return 'The line is not a JSON object.';
    if (duplicates.length > 0 || tooDeep) return 'The line repeats a member, or is nested too deeply.';
    const members = new Map(Object.entries(Object(value)));
    const fields: PetFields = {};
    for (const [field, name] of columns) {
      const member = members.get(name);
      fields[field] = member instanceof JsonNumber ? (member.toInt64() ?? member) : member;
    }
    return fields;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return `The line is not JSON. ${error.message}.`;
    throw error;
  }
}

/** CSV (RFC 4180) with the columns of its first line. Excel may say the delimiter in a line before it: `sep=;`. */
function csvReader(start: string, options: RowsOptions): RowReader {
  const [said, delimiter] = /^\ufeff?sep=([,;\t])\r?\n/i.exec(start) ?? ['', mostFrequent(start)];
  const syntax: Options = {
    delimiter,
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    bom: true,
  };
  const parser = parse({ ...syntax, raw: true, max_record_size: MAX_LENGTH });
  let hasFault = false;
  parser.on('error', () => (hasFault = true));
  let [skipped, line] = [said.length, said === '' ? 1 : 2];
  let places: Places | undefined;
  const rowsOf = ({ record, raw }: Parsed): ImportRow[] => {
    const first = line;
    line += raw.replace(/[\r\n]+$/, '').split('\n').length;
    if (/^\s*$/.test(raw)) return [];
    if (places) return [{ line: first, fields: fieldsOfCsv(record, places) }];
    places = placesOf(record, options);
    return [];
  };
  return {
    read(text) {
      if (hasFault) return [];
      parser.write(text.slice(skipped));
      skipped = 0;
      const rows: ImportRow[] = [];
      // The iterator of the parser would take a turn for each record.
      for (let parsed: Parsed | null; (parsed = parser.read()) !== null;) rows.push(...rowsOf(parsed));
      return rows;
    },
    async end() {
      parser.end();
      const rows = ((await parser.toArray().catch(() => [])) as Parsed[]).flatMap(rowsOf);
      const fields = 'The line is not CSV: a quote is misplaced or not closed.';
      return hasFault ? [...rows, { line, fields }] : rows;
    },
  };
}

/** What csv-parse makes of a record. */
interface Parsed {
  readonly record: readonly string[];
  readonly raw: string;
}

/** Where the fields are in a line, and how many cells it has. */
type Places = { readonly count: number; readonly fields: ReadonlyArray<readonly [keyof Pet, number]> };

/** The delimiter that the first line has most. */
function mostFrequent(start: string): string {
  const line = /[^\r\n]*\S[^\r\n]*/.exec(start)?.[0] ?? '';
  const count = (delimiter: string): number => line.replaceAll(/"[^"]*"/g, '').split(delimiter).length;
  return [',', ';', '\t'].reduce((one, other) => (count(other) > count(one) ? other : one));
}

function placesOf(header: readonly string[], { name, columns }: RowsOptions): Places {
  const needed = new Set(['id', ...newPetFaults({}).map(({ field }) => field)]);
  for (const [field, column] of columns) {
    const found = header.filter((each) => each === column).length;
    if (found > 1) throw new UsageError(`${name} has the column ${column} twice.`);
    if (found === 1 || (column === field && !needed.has(field))) continue;
    const shown = header.slice(0, 20).map((each) => JSON.stringify(each.slice(0, 40)));
    const has = `${shown.join(', ')}${header.length > 20 ? ', and more' : ''}`;
    throw new UsageError(`${name} has no column ${column}. It has: ${has}. Use --map ${field}=COLUMN.`);
  }
  const fields = [...columns].map(([field, column]) => [field, header.indexOf(column)] as const);
  return { count: header.length, fields };
}

function fieldsOfCsv(cells: readonly string[], { count, fields: places }: Places): PetFields | string {
  if (cells.length !== count) return `The line has ${cells.length} fields, not ${count}.`;
  const fields: PetFields = {};
  for (const [field, place] of places) {
    const text = cells[place] ?? '';
    if (text !== '') fields[field] = accepts(field, text) ? text : (parseInt64(text) ?? text);
    if (fields[field] === text && /^[+-]?\d{1,99}$/.test(text) && accepts(field, BigInt(text)))
      return `The ${field} ${text} is not in its shortest form, ${BigInt(text)}.`;
  }
  return fields;
}

/** Whether the rule of a field accepts a value. A cell is text if the rule accepts text, else an integer. */
const accepts = (field: keyof Pet, value: unknown): boolean =>
  field === 'id' ? isInt64(value) : PET_RULES[field](value) === undefined;
