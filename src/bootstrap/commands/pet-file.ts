import { Option } from 'commander';
import type { Parser } from 'csv-parse';
import { isUtf8 } from 'node:buffer';
import type { Hash } from 'node:crypto';
import { extname } from 'node:path';
import type { ImportRow } from '../../application/import-pets.js';
import { parseInt64 } from '../../domain/int64.js';
import { NEW_PET_FIELDS, PET_RULES, newPetFaults, type Pet } from '../../domain/pet.js';
import { JsonNumber, readJson } from '../../exact-json.js';
import { UsageError, printable } from './command-line.js';

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

/** A file to read. */
export interface PetFile {
  /** For messages. */
  readonly name: string;
  readonly inCsv: boolean;
  /** The fields to read, with the names of their columns or members. Blanks around names and their case do not count. */
  readonly columns: ReadonlyMap<keyof Pet, string>;
  /** Gets the bytes of the file. */
  readonly hash: Hash;
  /** Gets the names of the columns or members that are not read: `id`, and of others the first hundred. */
  readonly unread: Set<string>;
}

/** Returns the fields of an animal in the cells of a line, or why it cannot. */
type RowReader = (cells: readonly string[]) => ImportRow['fields'];

/** The longest line, its end included, and the longest record. */
const MAX_LENGTH = 1024 * 1024;

const NOT_CSV =
  'The line is not CSV: a quote is misplaced, has blanks beside it or is not closed, or the record is longer than 1 MiB.';

/** Where a line ends: after LF, CRLF or CR. */
const LINE_END = /(?<=\n|\r(?!\n))/;

/**
 * Reads the rows of a file, without blank lines and the header.
 * @throws {UsageError} it is not text in UTF-8, or a CSV file without the columns or without rows.
 */
export async function* readRows(
  content: AsyncIterable<Buffer>,
  file: PetFile,
): AsyncIterable<readonly ImportRow[]> {
  const { CsvError, parse } = await import('csv-parse');
  const { name, inCsv } = file;
  const rows: ImportRow[] = [];
  let [line, nextLine, isEmpty] = [1, 1, true];
  let read = inCsv ? undefined : jsonReader(file);
  const addRow = (fields: ImportRow['fields']): void => {
    rows.push({ line, fields });
    isEmpty = false;
  };
  const take = (cells: string[]): null => {
    const text = cells.join(' ');
    if (text.trim() !== '') {
      if (read) addRow(read(cells));
      // Excel may say the delimiter in a line before the header: `sep=;`.
      else if (text.trim().toLowerCase() !== 'sep=') read = csvReader(cells, file);
    }
    line += text.split(/\r\n|\r|\n/).length;
    return null;
  };
  let parser: Parser | undefined;
  /** Parses at once: the parser's iterator would take a turn for each record. */
  const parseLines = (lines: readonly string[], delimiter: string): void => {
    const first = nextLine;
    nextLine += lines.length;
    for (let rest = lines; rest.length > 0; rest = lines.slice(line - first)) {
      parser ??= parse({
        delimiter,
        record_delimiter: ['\r\n', '\n', '\r'],
        relax_column_count: true,
        max_record_size: MAX_LENGTH,
        on_record: take,
      }).on('error', () => {});
      parser.write(rest.join(''));
      // Goes on behind the line with the misplaced quote, unless its record began in lines that are gone.
      if (!(parser.errored instanceof CsvError) || line < first) return;
      parser = undefined;
      addRow(NOT_CSV);
      line += 1;
    }
  };
  let delimiter: string | undefined;
  try {
    for await (const lines of readLines(content, file)) {
      if (inCsv) parseLines(lines, (delimiter ??= delimiterOf(lines)));
      else for (const text of lines) take([text.replace(/[\r\n]+$/, '')]);
      yield rows.splice(0);
      if (parser?.errored) break;
    }
    await parser?.end().toArray();
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    addRow(NOT_CSV);
  }
  if (read === undefined) throw new UsageError(`${name} is empty.`);
  if (inCsv && isEmpty) throw new UsageError(`${name} has a header, and no animals.`);
  yield rows;
}

/** Reads text in UTF-8, without its byte order mark, as lines with their ends. */
async function* readLines(content: AsyncIterable<Buffer>, { hash, name }: PetFile) {
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
    const lines = (rest + decoded(chunk, true)).split(LINE_END);
    const long = lines.findIndex(({ length }) => length > MAX_LENGTH);
    if (long >= 0) throw new UsageError(`${name}: line ${line + long} is longer than 1 MiB.`);
    // CR may be half of a CRLF.
    rest = lines.at(-1)?.endsWith('\n') ? '' : (lines.pop() ?? '');
    line += lines.length;
    if (lines.length > 0) yield lines;
  }
  yield (rest + decoded(Buffer.alloc(0), false)).split(LINE_END);
}

/** The index of the line in a chunk that is not UTF-8. The chunk may begin in the middle of a character. */
function wrongLine(chunk: Buffer): number {
  const text = chunk.toString('latin1').replace(/^[\x80-\xbf]{1,3}/, '');
  const wrong = text.split(LINE_END).findIndex((line) => !isUtf8(Buffer.from(line, 'latin1')));
  return Math.max(0, wrong);
}

/** The delimiter that the header has first, outside quotes. */
function delimiterOf(lines: readonly string[]): string {
  const header = lines.find((line) => line.trim() !== '')?.replaceAll(/"[^"]*"/g, '') ?? '';
  return /[,;\t]/.exec(header)?.[0] ?? ',';
}

/** The name of a column or member as it is compared: spreadsheets and people write the same one differently. */
const folded = (name: string): string => name.trim().toLowerCase();

function addUnread(unread: Set<string>, name: string): void {
  const shown = printable(name.trim().slice(0, 100));
  if (shown !== '' && (unread.size < 100 || folded(name) === 'id')) unread.add(shown);
}

function jsonReader({ columns, unread }: PetFile): RowReader {
  const wanted = [...columns].map(([field, column]) => ({ field, member: folded(column) }));
  const names = new Set(wanted.map(({ member }) => member));
  return ([text = '']) => {
    const values = new Map<string, unknown>();
    try {
      const { value: row, duplicates } = readJson(text);
      if (duplicates[0]) return `Member ${printable(duplicates[0].slice(0, 100))} is repeated.`;
      for (const [name, value] of Object.entries(Object(row))) {
        const member = folded(name);
        if (!names.has(member)) addUnread(unread, name);
        else if (values.has(member)) return `The line has several members ${member}.`;
        // Null is nothing. `7.0` is an integer.
        else
          values.set(
            member,
            value instanceof JsonNumber ? (value.toInt64() ?? value) : (value ?? undefined),
          );
      }
    } catch (error) {
      return `The line is not valid JSON. ${(error as SyntaxError).message}.`;
    }
    return Object.fromEntries(wanted.map(({ field, member }) => [field, values.get(member)]));
  };
}

/** @throws {UsageError} a required column is missing, or one is there twice. */
function csvReader(header: readonly string[], { columns, name, unread }: PetFile): RowReader {
  const names = header.map(folded);
  const required = new Set(['id', ...newPetFaults({}).map(({ field }) => field)]);
  const wanted = [...columns].map(([field, column]) => ({
    field,
    column,
    index: names.indexOf(folded(column)),
    found: names.filter((each) => each === folded(column)).length,
  }));
  const wrong = wanted.filter(
    ({ field, column, found }) =>
      found > 1 || (found === 0 && (column !== field || required.has(field))),
  );
  if (wrong.length > 0) {
    const what = wrong.map(
      ({ column, found }) => `${found || 'no'} ${found ? 'columns' : 'column'} ${column}`,
    );
    const map = wrong.map(({ field }) => `${field}=COLUMN`);
    throw new UsageError(`${name} has ${what.join(', ')}. Use --map ${map.join(',')}.`);
  }
  for (const [at, column] of header.entries())
    if (wanted.every(({ index }) => index !== at)) addUnread(unread, column);
  return (cells) => {
    // Spreadsheets omit what is empty at the end of a line.
    const isCut = wanted.some(({ field, index }) => index >= cells.length && required.has(field));
    if (isCut || cells.length > header.length)
      return `The line has ${cells.length} fields, not ${header.length}.`;
    const fields: Partial<Record<keyof Pet, unknown>> = {};
    for (const { field, column, index } of wanted) {
      const text = cells[index] ?? '';
      fields[field] = valueOf(field, text);
      if (text !== text.trim() && !isValue(field, text) && isValue(field, text.trim()))
        return `${column} has blanks around its value: remove them.`;
    }
    return fields;
  };
}

/** What a cell says of a field: text if the rule of the field accepts text, else an integer. */
function valueOf(field: keyof Pet, text: string): unknown {
  if (text === '') return undefined;
  const isText = field !== 'id' && PET_RULES[field](text) === undefined;
  return isText ? text : (parseInt64(text) ?? text);
}

/** Whether a text is a value of a field, apart from the field being required. */
function isValue(field: keyof Pet, text: string): boolean {
  const value = valueOf(field, text);
  return field === 'id' ? typeof value === 'bigint' : PET_RULES[field](value) === undefined;
}
