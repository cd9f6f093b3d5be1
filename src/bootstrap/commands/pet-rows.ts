import { isUtf8 } from 'node:buffer';
import { parse, type Options, type Parser } from 'csv-parse';
import { parse as parseText } from 'csv-parse/sync';
import type { PetFields, PetRow } from '../../application/import-pets.js';
import { isInt64, parseInt64 } from '../../domain/int64.js';
import { PET_RULES, newPetFaults, type Pet } from '../../domain/pet.js';
import { JsonNumber, JsonSyntaxError, readJson } from '../../exact-json.js';
import { UsageError } from './command-line.js';

/** A record of a file of animals: a line, or in CSV several lines with quotes around their line breaks. */
export interface Row extends PetRow {
  /** Its bytes, each as one character (latin1). */
  readonly bytes: string;
}

/** How a file is written. */
export interface RowsOptions {
  /** For messages. */
  readonly name: string;
  readonly isCsv: boolean;
  /** The fields to read, with their names in the file. */
  readonly columns: ReadonlyMap<keyof Pet, string>;
  /** Default: the one of `,` `;` and tab that the first line has most. */
  readonly delimiter?: string | undefined;
}

/** How the records of a file are read. */
interface Syntax {
  /** For csv-parse. */
  readonly options: Options;
  readonly isRecord: (bytes: string) => boolean;
  readonly fieldsOf: (cells: readonly string[], text: string) => PetFields | string;
}

/** What csv-parse makes of a record. */
interface Parsed {
  readonly record: readonly string[];
  readonly raw: string;
}

/** The longest record, in bytes. */
const MAX_LENGTH = 1024 * 1024;

/** Records whose bytes are characters. A misplaced quote is text for csv-parse: `isRecord` finds it. */
const RECORDS = {
  encoding: 'latin1',
  raw: true,
  record_delimiter: ['\r\n', '\n'],
  relax_column_count: true,
  relax_quotes: true,
} satisfies Options;

/** Why no row of a file that starts so can be read. */
function fileFault(start: string): string | undefined {
  if (start.startsWith('\x1f\x8b')) return 'is compressed: use --format csv.gz or ndjson.gz.';
  if (/^(?:\xff\xfe|\xfe\xff)/.test(start) || start.slice(0, 2).includes('\0'))
    return 'is UTF-16: convert it to UTF-8.';
  if (/^[^\n]*\r[^\n]/.test(start)) return 'ends its lines with CR alone: convert them to LF or CRLF.';
  return undefined;
}

const MISPLACED_QUOTE = 'The line is not CSV: a quote is misplaced or not closed.';

/**
 * Reads the rows of a file chunk by chunk, without blank lines and the header.
 * @throws {UsageError} it is not text in UTF-8, or a CSV file without the columns.
 */
export async function* readRows(
  content: AsyncIterable<Buffer>,
  options: RowsOptions,
): AsyncGenerator<readonly Row[]> {
  let head = Buffer.alloc(0);
  let reader: ReturnType<typeof rowReader> | undefined;
  for await (const chunk of content) {
    if (reader === undefined) head = Buffer.concat([head, chunk]);
    else reader.parser.write(chunk);
    if (head.includes('\n') || head.length > MAX_LENGTH) yield (reader ??= rowReader(head, options)).read();
  }
  reader ??= rowReader(head, options);
  reader.parser.end();
  yield (await reader.parser.toArray()).flatMap(reader.rowsOf);
}

/** @param head the first line at least */
function rowReader(head: Buffer, options: RowsOptions) {
  const { name, isCsv } = options;
  const start = head.toString('latin1');
  const fault = fileFault(start);
  if (fault !== undefined) throw new UsageError(`${name} ${fault}`);
  const mark = start.startsWith('\xef\xbb\xbf') ? 3 : 0; // a byte order mark
  const syntax = isCsv ? csvSyntax(start.slice(mark), options) : jsonSyntax(options);
  const parser: Parser = parse({
    ...syntax.options,
    max_record_size: MAX_LENGTH,
    skip_records_with_error: true,
    // Too long, or the end of the file within quotes.
    on_skip: (_, raw = '') => void parser.push({ record: [], raw } satisfies Parsed),
  });
  parser.write(head.subarray(mark));
  let line = 1;
  let isHeader = isCsv;
  const rowsOf = ({ record, raw }: Parsed): Row[] => {
    if (raw.length > MAX_LENGTH)
      throw new Error(`The record on line ${line} of ${name} is longer than 1 MiB: is a quote not closed?`);
    const whole = raw.endsWith('\n') ? raw.slice(0, -1) : raw;
    // If several lines make no record, each becomes its own, so that nothing after the fault is lost.
    const records = syntax.isRecord(whole) ? [whole] : whole.split('\n');
    return records.flatMap((bytes): Row[] => {
      const first = line;
      line += bytes.includes('\n') ? bytes.split('\n').length : 1;
      if (/^[ \t\r]*$/.test(bytes)) return [];
      const fields = fieldsOf(bytes, syntax, records.length > 1 ? undefined : record);
      const isRow = !isHeader;
      isHeader = false;
      return isRow ? [{ line: first, bytes, fields }] : [];
    });
  };
  /** The rows that are complete. The iterator of the parser would take a turn for each record. */
  const read = (): Row[] => {
    const rows: Row[] = [];
    for (let parsed: Parsed | null; (parsed = parser.read()) !== null;) rows.push(...rowsOf(parsed));
    return rows;
  };
  return { parser, read, rowsOf };
}

function fieldsOf(bytes: string, syntax: Syntax, cells?: readonly string[]): PetFields | string {
  if (!syntax.isRecord(bytes)) return MISPLACED_QUOTE;
  const text = textOf(bytes);
  if (text === undefined) return 'The line is not UTF-8.';
  return syntax.fieldsOf(cells ?? cellsOf(bytes, syntax.options), text);
}

/** The cells of a record. */
const cellsOf = (bytes: string, options: Options): readonly string[] =>
  (parseText(bytes, options) as unknown as readonly Parsed[])[0]?.record ?? [];

/** The text of bytes; `undefined` if they are not UTF-8. */
function textOf(bytes: string): string | undefined {
  if (!/[\x80-\xff]/.test(bytes)) return bytes;
  const buffer = Buffer.from(bytes, 'latin1');
  return isUtf8(buffer) ? buffer.toString() : undefined;
}

/** Each line is a record of one cell. */
const jsonSyntax = ({ columns }: RowsOptions): Syntax => ({
  options: { ...RECORDS, quote: null, delimiter: '\n' },
  isRecord: () => true,
  fieldsOf(_, text) {
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
  },
});

/** CSV with the columns of its first line. */
function csvSyntax(start: string, { name, columns, delimiter: given }: RowsOptions): Syntax {
  const line = /[^\r\n]*\S[^\r\n]*/.exec(start)?.[0];
  if (line === undefined) throw new UsageError(`${name} is empty: its first line must name the columns.`);
  const count = (delimiter: string): number => line.replaceAll(/"[^"]*"/g, '').split(delimiter).length;
  const delimiter =
    given ?? [',', ';', '\t'].reduce((one, other) => (count(other) > count(one) ? other : one));
  const cell = `(?:"[^"]*(?:""[^"]*)*"|[^"\n${delimiter}]*)`;
  const record = new RegExp(`^${cell}(?:${delimiter}${cell})*\r?$`);
  const isRecord = (bytes: string): boolean => !bytes.includes('"') || record.test(bytes);
  if (!isRecord(line))
    throw new UsageError(`The first line of ${name} must name the columns. ${MISPLACED_QUOTE}`);
  const options = { ...RECORDS, delimiter };
  const header = cellsOf(line, options).map((bytes) => textOf(bytes) ?? bytes);
  const needed = new Set(['id', ...newPetFaults({}).map(({ field }) => field)]);
  for (const [field, column] of columns) {
    const found = header.filter((each) => each === column).length;
    const isNeeded = column !== field || needed.has(field);
    if (found === 1 || (found === 0 && !isNeeded)) continue;
    const shown = header.slice(0, 20).map((each) => JSON.stringify(each.slice(0, 40)));
    const has = `${shown.join(', ')}${header.length > 20 ? ', and more' : ''}`;
    throw new UsageError(
      `${name} must have one column ${column}. It has: ${has}. Use --map ${field}=COLUMN.`,
    );
  }
  const places = [...columns].map(([field, column]) => [field, header.indexOf(column)] as const);
  return {
    options,
    isRecord,
    fieldsOf(cells) {
      if (cells.length !== header.length) return `The line has ${cells.length} fields, not ${header.length}.`;
      const fields: PetFields = {};
      for (const [field, place] of places) {
        const text = textOf(cells[place] ?? '') ?? '';
        if (text !== '') fields[field] = accepts(field, text) ? text : (parseInt64(text) ?? text);
        if (fields[field] === text && /^[+-]?\d{1,99}$/.test(text) && accepts(field, BigInt(text)))
          return `The ${field} ${text} is not in its shortest form, ${BigInt(text)}.`;
      }
      return fields;
    },
  };
}

/** Whether the rule of a field accepts a value. A cell is text if the rule accepts text, else an integer. */
const accepts = (field: keyof Pet, value: unknown): boolean =>
  field === 'id' ? isInt64(value) : PET_RULES[field](value) === undefined;
