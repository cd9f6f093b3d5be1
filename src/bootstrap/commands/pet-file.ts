import { Option } from 'commander';
import type { Parser } from 'csv-parse';
import { isUtf8 } from 'node:buffer';
import { extname } from 'node:path';
import type { ImportRow, PetFields } from '../../application/import-pets.js';
import { parseInt64 } from '../../domain/int64.js';
import { NEW_PET_FIELDS, PET_RULES, newPetFaults, type Pet } from '../../domain/pet.js';
import { parse as parseJson } from '../../exact-json.js';
import { UsageError } from './command-line.js';

/** The endings of files of animals, which are also the values of `--format`. */
const FORMATS = ['csv', 'ndjson', 'jsonl'];

/** Makes the option `--format`. */
export const formatOption = (): Option =>
  new Option('--format <format>', 'default: the ending of FILE').choices(FORMATS);

/** @throws {UsageError} the ending is unknown. */
export function isCsv(file: string, name: string, format = extname(file).slice(1).toLowerCase()): boolean {
  if (FORMATS.includes(format)) return format === 'csv';
  throw new UsageError(`${name} has no ending of a format: use --format ${FORMATS.join(', ')}.`);
}

/** The fields of an animal in a file, in their order. */
export const COLUMNS: ReadonlyArray<keyof Pet> = ['id', ...NEW_PET_FIELDS];

/** A line of CSV (RFC 4180), with quotes only where needed. */
export const csvLine = (cells: ReadonlyArray<string | bigint | undefined>): string =>
  `${cells.map((cell) => csvCell(String(cell ?? ''))).join(',')}\n`;

const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** The fields to read, with their names in the file. */
export type Columns = ReadonlyMap<keyof Pet, string>;

type Chunks<T> = AsyncIterable<readonly T[]>;

/**
 * Reads the rows of a file, without blank lines and the header.
 * @throws {UsageError} it is not text in UTF-8, or a CSV file without the columns. `name` is for messages.
 */
export const readRows = (
  content: AsyncIterable<Buffer>,
  name: string,
  columns: Columns,
  inCsv: boolean,
): Chunks<ImportRow> => (inCsv ? csvRows : jsonRows)(readLines(content, name), columns, name);

/** The longest line and the longest record, in bytes. */
const MAX_LENGTH = 1024 * 1024;

/** Reads lines with their line breaks, without a byte order mark. */
async function* readLines(content: AsyncIterable<Buffer>, name: string): Chunks<string> {
  let [rest, line] = [Buffer.alloc(0), 0];
  const textOf = (bytes: Buffer): string => {
    line += 1;
    if (bytes.length > MAX_LENGTH) throw new UsageError(`Line ${line} of ${name} is longer than 1 MiB.`);
    if (!isUtf8(bytes)) throw new UsageError(`Line ${line} of ${name} is not UTF-8.`);
    return line === 1 ? bytes.toString().replace(/^\ufeff/, '') : bytes.toString();
  };
  for await (const chunk of content) {
    const lines: string[] = [];
    rest = Buffer.concat([rest, chunk]);
    for (let end; (end = rest.indexOf('\n') + 1) > 0; rest = rest.subarray(end))
      lines.push(textOf(rest.subarray(0, end)));
    if (rest.length > MAX_LENGTH) textOf(rest);
    if (lines.length > 0) yield lines;
  }
  if (rest.length > 0) yield [textOf(rest)];
}

/** Reads NDJSON: each line is a JSON object. */
async function* jsonRows(chunks: Chunks<string>, columns: Columns): Chunks<ImportRow> {
  let line = 0;
  for await (const lines of chunks)
    yield lines.flatMap((text) => {
      line += 1;
      return text.trim() === '' ? [] : [{ line, fields: fieldsOfJson(text, columns) }];
    });
}

function fieldsOfJson(text: string, columns: Columns): PetFields | string {
  try {
    const value = parseJson(text);
    if (Object(value) !== value || Array.isArray(value)) return 'The line is not a JSON object.';
    const members = value as Record<string, unknown>;
    // Integers are bigints: any other number breaks the rule of every field.
    return fieldsOf(columns, (name) => (typeof members[name] === 'number' ? Number.NaN : members[name]));
  } catch (error) {
    return `The line is not valid JSON. ${(error as SyntaxError).message}.`;
  }
}

/** Reads CSV (RFC 4180) with the columns of its first line. */
async function* csvRows(chunks: Chunks<string>, columns: Columns, name: string): Chunks<ImportRow> {
  const { CsvError, parse } = await import('csv-parse');
  const rows: ImportRow[] = [];
  let line = 1;
  let header: readonly string[] | undefined;
  const take = (cells: string[]): null => {
    const [first = ''] = cells;
    const isBlank = cells.join(delimiter).trim() === '';
    if (header && !isBlank) rows.push({ line, fields: fieldsOfCsv(cells, header, columns) });
    // Excel may say the delimiter in a line before the header: `sep=;`.
    else if (!isBlank && first.toLowerCase() !== 'sep=') requireColumns((header = cells), columns, name);
    line += cells.join('').split('\n').length;
    return null;
  };
  const syntax = { record_delimiter: ['\r\n', '\n'], relax_column_count: true, max_record_size: MAX_LENGTH };
  let parser: Parser | undefined;
  let delimiter = '';
  try {
    for await (const lines of chunks) {
      delimiter ||= mostFrequent(lines);
      parser ??= parse({ ...syntax, delimiter, on_record: take }).on('error', () => {});
      parser.write(lines.join('')); // parses at once; the parser's iterator would take a turn for each record
      yield rows.splice(0);
      if (parser.errored) break;
    }
    await parser?.end().toArray();
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    rows.push({ line, fields: 'The line is not CSV: a quote is misplaced or not closed.' });
  }
  if (header === undefined) throw new UsageError(`${name} is empty.`);
  yield rows;
}

/** The delimiter that the first line has most. */
function mostFrequent(lines: readonly string[]): string {
  const first = lines.find((line) => line.trim() !== '') ?? '';
  const count = (delimiter: string): number => first.replaceAll(/"[^"]*"/g, '').split(delimiter).length;
  return [',', ';', '\t'].reduce((one, other) => (count(other) > count(one) ? other : one));
}

/** @throws {UsageError} a required column is missing, or one is there twice. */
function requireColumns(header: readonly string[], columns: Columns, name: string): void {
  const required = new Set(['id', ...newPetFaults({}).map(({ field }) => field)]);
  for (const [field, column] of columns) {
    const found = header.filter((each) => each === column).length;
    if (found > 1) throw new UsageError(`${name} has the column ${column} twice.`);
    if (found === 0 && (column !== field || required.has(field)))
      throw new UsageError(`${name} has no column ${column}. Use --map ${field}=COLUMN.`);
  }
}

function fieldsOfCsv(cells: readonly string[], header: readonly string[], columns: Columns) {
  if (cells.length !== header.length) return `The line has ${cells.length} fields, not ${header.length}.`;
  return fieldsOf(columns, (column, field) => {
    const text = cells[header.indexOf(column)] ?? '';
    if (text === '') return undefined;
    // A cell is text if the rule of its field accepts text, else an integer.
    const isText = field !== 'id' && PET_RULES[field](text) === undefined;
    return isText ? text : (parseInt64(text) ?? text);
  });
}

/** The fields of a row, by what it has under the name of each. Null is nothing. */
function fieldsOf(columns: Columns, valueOf: (column: string, field: keyof Pet) => unknown): PetFields {
  const fields: PetFields = {};
  for (const [field, column] of columns) fields[field] = valueOf(column, field) ?? undefined;
  return fields;
}
