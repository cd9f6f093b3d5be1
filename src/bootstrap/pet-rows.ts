import { isUtf8 } from 'node:buffer';
import { parse } from 'csv-parse/sync';
import { parseInt64 } from '../domain/int64.js';
import { JsonNumber, JsonSyntaxError, readJson } from '../exact-json.js';
import { UsageError } from './command-line.js';
import type { Field, FileFormat } from './pet-file.js';

/** A line of a file of animals; of CSV a record, which may have several lines. */
export interface Row {
  /** The number of its first line, from 1. */
  readonly line: number;
  /** Its bytes, each as one character (latin1). */
  readonly bytes: string;
  /** What it says of each field, unchecked, with int64 integers as bigints. `undefined` if there is a fault. */
  fields?: Fields;
  /** Why it cannot be read. */
  fault?: string;
}

type Fields = { [name in Field]?: unknown };

/** Where a field is read from. */
export interface Column {
  readonly field: Field;
  /** Its name in the file: of a CSV column, or of a member of JSON objects. */
  readonly name: string;
  /** Whether a CSV file must have it. */
  readonly required: boolean;
}

/** The longest line or record, in bytes. */
const MAX_LENGTH = 1024 * 1024;

/**
 * Reads the rows of a file, in batches. Blank lines are skipped.
 * @throws {UsageError} a CSV file does not have the columns.
 */
export const readRows = (
  content: AsyncIterable<Buffer>,
  { kind }: FileFormat,
  columns: readonly Column[],
): AsyncGenerator<Row[]> => (kind === 'csv' ? csvRows(content, columns) : jsonRows(content, columns));

async function* linesOf(content: AsyncIterable<Buffer>): AsyncGenerator<Row[]> {
  let [rest, line] = ['', 0];
  const row = (bytes: string): Row => {
    line += 1;
    return { line, bytes: line === 1 ? bytes.replace(/^\xef\xbb\xbf/, '') : bytes }; // a byte order mark
  };
  for await (const chunk of content) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    yield lines.map(row);
    if (rest.length > MAX_LENGTH) throw new Error(`Line ${line + 1} is longer than 1 MiB.`);
  }
  yield [row(rest)];
}

const isBlank = ({ bytes }: Row): boolean => /^[ \t\r]*$/.test(bytes);

/** The text of a row. Notes a fault if it is not UTF-8. */
function textOf(row: Row): string {
  if (!/[\x80-\xff]/.test(row.bytes)) return row.bytes;
  const buffer = Buffer.from(row.bytes, 'latin1');
  if (!isUtf8(buffer)) row.fault = 'The line is not UTF-8.';
  return buffer.toString();
}

async function* jsonRows(content: AsyncIterable<Buffer>, columns: readonly Column[]): AsyncGenerator<Row[]> {
  for await (const lines of linesOf(content)) {
    const rows = lines.filter((row) => !isBlank(row));
    for (const row of rows) readObject(row, columns);
    yield rows;
  }
}

function readObject(row: Row, columns: readonly Column[]): void {
  try {
    const { value, duplicates, tooDeep } = readJson(textOf(row));
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof JsonNumber) {
      row.fault ??= 'The line is not a JSON object.';
      return;
    }
    if (duplicates.length > 0 || tooDeep) row.fault ??= 'The line repeats a member, or is nested too deeply.';
    row.fields = {};
    for (const { field, name } of columns) {
      const member = Object.hasOwn(value, name) ? value[name] : undefined;
      row.fields[field] = member instanceof JsonNumber ? (member.toInt64() ?? member) : member;
    }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    row.fault ??= `The line is not JSON. ${error.message}.`;
  }
}

async function* csvRows(content: AsyncIterable<Buffer>, columns: readonly Column[]): AsyncGenerator<Row[]> {
  let header: readonly string[] | undefined;
  let places: ReadonlyArray<readonly [field: Field, index: number]> = [];
  for await (const records of recordsOf(content)) {
    const rows = records.filter((row) => !isBlank(row));
    const cells = parseRecords(rows);
    if (header === undefined) {
      const first = rows.shift();
      if (first === undefined) continue;
      if (first.fault !== undefined)
        throw new UsageError(`The first line must name the columns. ${first.fault}`);
      header = cells.shift() ?? [];
      places = placesOf(columns, header);
    }
    for (const [at, row] of rows.entries()) {
      const found = cells[at] ?? [];
      if (found.length !== header.length)
        row.fault ??= `The line has ${found.length} fields, not ${header.length}.`;
      row.fields = {};
      for (const [field, index] of places) {
        const cell = found[index] ?? '';
        row.fields[field] = field === 'id' || field === 'categoryId' ? (parseInt64(cell) ?? cell) : cell;
      }
    }
    yield rows;
  }
  if (header === undefined) throw new UsageError('FILE is empty: its first line must name the columns.');
}

/** Where the header has each column. */
function placesOf(columns: readonly Column[], header: readonly string[]): Array<readonly [Field, number]> {
  return columns.flatMap(({ field, name, required }) => {
    const index = header.indexOf(name);
    if (index === -1 && !required) return [];
    if (index !== -1 && index === header.lastIndexOf(name)) return [[field, index] as const];
    const found = header.map((each) => JSON.stringify(each)).join(', ');
    const advice = `Use --map ${field}=COLUMN${field === 'status' ? ', or --status' : ''}.`;
    throw new UsageError(`FILE must have one column ${name}. It has: ${found.slice(0, 200)}. ${advice}`);
  });
}

/** The cells of each record. Notes a fault on a record that is not CSV: smaller parts tell which it is. */
function parseRecords(records: readonly Row[]): string[][] {
  const text = records.map((row) => `${textOf(row)}\n`).join('');
  try {
    // Strict: where csv-parse skips a fault, it skips everything up to the next quote that ends a field.
    return parse(text, { record_delimiter: ['\r\n', '\n'], relax_column_count: true });
  } catch {
    const middle = records.length >> 1;
    if (middle > 0) return [records.slice(0, middle), records.slice(middle)].flatMap(parseRecords);
    for (const row of records) row.fault ??= 'The line is not CSV: a quote is misplaced or not closed.';
    return [[]];
  }
}

const hasOpenQuote = ({ bytes }: Row): boolean => bytes.includes('"') && bytes.split('"').length % 2 === 0;

/**
 * The records of a CSV file. A line with an open quote goes on up to the next line with one. Where that makes no record,
 * each line is one, and nothing after the fault is lost.
 */
async function* recordsOf(content: AsyncIterable<Buffer>): AsyncGenerator<Row[]> {
  let [open, size]: [Row[], number] = [[], 0];
  for await (const lines of linesOf(content)) {
    const records: Row[] = [];
    for (const line of lines) {
      const turns = hasOpenQuote(line);
      if (!turns && open.length === 0) {
        records.push(line);
        continue;
      }
      open.push(line);
      size += line.bytes.length;
      if (turns && open.length > 1) {
        const record: Row = { line: open[0]?.line ?? 0, bytes: open.map(({ bytes }) => bytes).join('\n') };
        parseRecords([record]);
        if (record.fault === undefined) open = [record];
        records.push(...open.splice(0, record.fault === undefined ? 1 : open.length - 1));
      } else if (size > MAX_LENGTH) records.push(...open.splice(0));
      if (open.length <= 1) size = open[0]?.bytes.length ?? 0;
    }
    yield records;
  }
  yield open;
}
