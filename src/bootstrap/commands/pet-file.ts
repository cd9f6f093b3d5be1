import { Option } from 'commander';
import type { Parser } from 'csv-parse';
import { isUtf8 } from 'node:buffer';
import type { Hash } from 'node:crypto';
import { extname } from 'node:path';
import type { ImportRow } from '../../application/import-pets.js';
import { parseInt64 } from '../../domain/int64.js';
import { NEW_PET_FIELDS, PET_RULES, newPetFaults, type Pet } from '../../domain/pet.js';
import { parse as parseJson } from '../../exact-json.js';
import { UsageError } from './command-line.js';

/** The endings of files of animals, which are also the values of `--format`. */
const FORMATS = ['csv', 'ndjson', 'jsonl'];

export const formatOption = (): Option =>
  new Option('--format <format>', 'default: the ending of FILE').choices(FORMATS);

/** @throws {UsageError} the ending is unknown. */
export function isCsv(file: string, format = extname(file).slice(1).toLowerCase()): boolean {
  if (FORMATS.includes(format)) return format === 'csv';
  throw new UsageError(`${file} has no ending of a format: use --format ${FORMATS.join(', ')}.`);
}

/** The fields of an animal in a file, in their order. */
export const COLUMNS: ReadonlyArray<keyof Pet> = ['id', ...NEW_PET_FIELDS];

/** A line of CSV (RFC 4180), with quotes only where needed. */
export const csvLine = (cells: ReadonlyArray<string | bigint | undefined>): string =>
  `${cells.map((cell) => csvCell(String(cell ?? ''))).join(',')}\n`;

const csvCell = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** The fields to read, with their names in the file. */
type Columns = ReadonlyMap<keyof Pet, string>;

/** The longest line and the longest record. */
const MAX_LENGTH = 1024 * 1024;

/**
 * Reads the rows of a file, without blank lines and the header. `hash` gets its bytes.
 * @throws {UsageError} it is not text in UTF-8, or a CSV file without the columns. `name` is for messages.
 */
export async function* readRows(
  content: AsyncIterable<Buffer>,
  hash: Hash,
  name: string,
  columns: Columns,
  inCsv: boolean,
): AsyncIterable<readonly ImportRow[]> {
  const { CsvError, parse } = await import('csv-parse');
  const rows: ImportRow[] = [];
  let line = 1;
  let header: readonly string[] | undefined;
  const take = (cells: string[]): null => {
    const text = cells.join('');
    const isBlank = text.trim() === '';
    if (!isBlank && !inCsv) rows.push({ line, fields: fieldsOfJson(text, columns) });
    else if (!isBlank && header) rows.push({ line, fields: fieldsOfCsv(cells, header, columns) });
    // Excel may say the delimiter in a line before the header: `sep=;`.
    else if (!isBlank && text.toLowerCase() !== 'sep=')
      requireColumns((header = cells), columns, name);
    line += text.split('\n').length;
    return null;
  };
  const syntax = {
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    max_record_size: MAX_LENGTH,
  };
  let parser: Parser | undefined;
  try {
    for await (const lines of readLines(content, hash, name)) {
      if (inCsv) {
        parser ??= parse({ ...syntax, delimiter: delimiterOf(lines), on_record: take }).on(
          'error',
          () => {},
        );
        // Parses at once. The parser's iterator would take a turn for each record.
        parser.write(`${lines.join('\n')}\n`);
      } else for (const text of lines) take([text]);
      yield rows.splice(0);
      if (parser?.errored) break;
    }
    await parser?.end().toArray();
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    rows.push({
      line,
      fields:
        'The line is not CSV: a quote is misplaced or not closed, or the record is longer than 1 MiB.',
    });
  }
  if (inCsv && header === undefined) throw new UsageError(`${name} is empty.`);
  yield rows;
}

/** Reads text in UTF-8, without its byte order mark. */
async function* readLines(content: AsyncIterable<Buffer>, hash: Hash, name: string) {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let [rest, line] = ['', 1];
  const decoded = (chunk: Buffer, stream: boolean): string => {
    try {
      return decoder.decode(chunk, { stream });
    } catch {
      throw new UsageError(`${name}: line ${line + wrongLine(chunk)} is not UTF-8.`);
    }
  };
  for await (const chunk of content) {
    hash.update(chunk);
    const lines = (rest + decoded(chunk, true)).split('\n');
    const long = lines.findIndex(({ length }) => length > MAX_LENGTH);
    if (long >= 0) throw new UsageError(`${name}: line ${line + long} is longer than 1 MiB.`);
    rest = lines.pop() ?? '';
    line += lines.length;
    if (lines.length > 0) yield lines;
  }
  yield [rest + decoded(Buffer.alloc(0), false)];
}

/** The index of the line in a chunk that is not UTF-8. The chunk may begin in the middle of a character. */
function wrongLine(chunk: Buffer): number {
  const text = chunk.toString('latin1').replace(/^[\x80-\xbf]{1,3}/, '');
  const wrong = text.split('\n').findIndex((line) => !isUtf8(Buffer.from(line, 'latin1')));
  return Math.max(0, wrong);
}

function fieldsOfJson(text: string, columns: Columns) {
  try {
    const members = Object(parseJson(text)) as Record<string, unknown>;
    // Integers are bigints: any other number breaks the rule of every field.
    return fieldsOf(columns, (name) => {
      const member = Object.hasOwn(members, name) ? members[name] : undefined;
      return typeof member === 'number' ? Number.NaN : member;
    });
  } catch (error) {
    return `The line is not valid JSON. ${(error as SyntaxError).message}.`;
  }
}

/** The delimiter that the header has first, outside quotes. */
function delimiterOf(lines: readonly string[]): string {
  const header = lines.find((line) => line.trim() !== '')?.replaceAll(/"[^"]*"/g, '') ?? '';
  return /[,;\t]/.exec(header)?.[0] ?? ',';
}

/** @throws {UsageError} a required column is missing, or one is there twice. */
function requireColumns(header: readonly string[], columns: Columns, name: string): void {
  const required = new Set(['id', ...newPetFaults({}).map(({ field }) => field)]);
  for (const [field, column] of columns) {
    const found = header.filter((each) => each === column).length;
    const isOptional = column === field && !required.has(field);
    if (found > 1 || (found === 0 && !isOptional))
      throw new UsageError(
        `${name} has ${found || 'no'} ${found > 1 ? 'columns' : 'column'} ${column}. Use --map ${field}=COLUMN.`,
      );
  }
}

function fieldsOfCsv(cells: readonly string[], header: readonly string[], columns: Columns) {
  if (cells.length !== header.length)
    return `The line has ${cells.length} fields, not ${header.length}.`;
  return fieldsOf(columns, (column, field) => {
    const text = cells[header.indexOf(column)] ?? '';
    if (text === '') return undefined;
    // A cell is text if the rule of its field accepts text, else an integer.
    const isText = field !== 'id' && PET_RULES[field](text) === undefined;
    return isText ? text : (parseInt64(text) ?? text);
  });
}

/** The fields of a row, by what it has under the name of each. Null is nothing. */
function fieldsOf(columns: Columns, valueOf: (column: string, field: keyof Pet) => unknown) {
  const fields: Partial<Record<keyof Pet, unknown>> = {};
  for (const [field, column] of columns) fields[field] = valueOf(column, field) ?? undefined;
  return fields;
}
