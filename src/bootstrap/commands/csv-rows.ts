import { parse, type Parser } from 'csv-parse';
import type { ImportRow } from '../../application/import-pets.js';
import { parseInt64 } from '../../domain/int64.js';
import { PET_RULES, newPetFaults, type Pet } from '../../domain/pet.js';
import { UsageError } from './command-line.js';
import { MAX_LENGTH, addUnread, folded, type PetFile } from './pet-file.js';

/**
 * Reads each record after the header as an animal, unless all its cells are blank.
 * @throws {UsageError} there is no header, it is not CSV, lacks a column or has one twice, or no record comes after it.
 */
export async function* csvRows(
  chunks: AsyncIterable<readonly string[]>,
  file: PetFile,
): AsyncGenerator<readonly ImportRow[]> {
  let readFields: FieldReader | undefined;
  let hasRows = false;
  for await (const records of csvRecords(chunks)) {
    const rows: ImportRow[] = [];
    for (const { line, cells } of records) {
      if (!cells && !readFields) throw new UsageError(`${file.name}:${line}: ${NOT_CSV}`);
      if (cells === undefined) rows.push({ line, fields: NOT_CSV });
      else if (cells.every((cell) => cell.trim() === '')) continue;
      else if (readFields) rows.push({ line, fields: readFields(cells) });
      else if (!isDelimiterNotice(cells)) readFields = fieldReader(cells, file);
    }
    hasRows ||= rows.length > 0;
    yield rows;
  }
  if (readFields === undefined) throw new UsageError(`${file.name} is empty.`);
  if (!hasRows) throw new UsageError(`${file.name} has a header, and no animals.`);
}

const NOT_CSV =
  'The line is not CSV: a quote is misplaced, has blanks beside it or is not closed, or the record is longer than 1 MiB.';

/** Excel may say the delimiter in a line before the header: `sep=;`. */
function isDelimiterNotice(cells: readonly string[]): boolean {
  return /^\s*sep=\s*$/i.test(cells.join(' '));
}

/** A record, with the number of the line at which it begins. Without cells it is not CSV. */
interface CsvRecord {
  readonly line: number;
  readonly cells?: readonly string[];
}

/**
 * Parses lines. Of a record that is not CSV, refuses only the first line, and parses the lines after it again. In two
 * cases the refused line is the last that is read: its chunk is no longer in memory, or its quote is still open at the
 * end of the file.
 */
async function* csvRecords(
  chunks: AsyncIterable<readonly string[]>,
): AsyncGenerator<readonly CsvRecord[]> {
  let reader: RecordReader | undefined;
  /** The number of the first line in the chunk. */
  let chunkStart = 1;
  for await (const lines of chunks) {
    reader ??= new RecordReader(delimiterOf(lines));
    let index = 0;
    while (index < lines.length) {
      const isCsv = reader.write(lines[index]);
      index += 1;
      if (isCsv) continue;
      const refusedIndex = reader.refuseLine() - chunkStart;
      if (refusedIndex < 0) {
        // The record began in an earlier chunk.
        yield reader.takeRecords();
        return;
      }
      index = refusedIndex + 1;
    }
    chunkStart += lines.length;
    yield reader.takeRecords();
  }
  if (reader === undefined) return;
  await reader.end();
  yield reader.takeRecords();
}

/**
 * Parses records line by line. It does not use the parser's async iterator: that drops the records just before an error,
 * and takes a turn of the event loop for each record.
 */
class RecordReader {
  readonly #delimiter: string;
  readonly #records: CsvRecord[] = [];
  /** The line at which the unfinished record begins. */
  #recordLine = 1;
  #parser: Parser;

  constructor(delimiter: string) {
    this.#delimiter = delimiter;
    this.#parser = this.#newParser();
  }

  /** Returns whether the unfinished record is still CSV. If not, refuse its line. */
  write(line: string | undefined): boolean {
    this.#parser.write(line);
    return !this.#parser.errored;
  }

  /** Refuses the line at which the unfinished record begins. Returns its number. The next line begins a new record. */
  refuseLine(): number {
    const line = this.#recordLine;
    this.#records.push({ line });
    this.#recordLine += 1;
    this.#parser = this.#newParser();
    return line;
  }

  /** Ends the last record. Refuses its first line if its quote is still open. */
  async end(): Promise<void> {
    try {
      await this.#parser.end().toArray();
    } catch {
      this.refuseLine();
    }
  }

  /** Returns the records since the last call, refused lines included. */
  takeRecords(): readonly CsvRecord[] {
    return this.#records.splice(0);
  }

  #newParser(): Parser {
    return parse({
      delimiter: this.#delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      max_record_size: MAX_LENGTH,
      on_record: (cells: string[]): null => {
        this.#records.push({ line: this.#recordLine, cells });
        this.#recordLine += cells.join(' ').split(/\r\n|\r|\n/).length;
        return null;
      },
    }).on('error', () => {});
  }
}

/** The delimiter that the header has first, outside quotes. */
function delimiterOf(lines: readonly string[]): string {
  const header = lines.find((line) => line.trim() !== '') ?? '';
  const unquoted = header.replaceAll(/"[^"]*"/g, '');
  return /[,;\t]/.exec(unquoted)?.[0] ?? ',';
}

/** Returns the fields of an animal in the cells of a record, or why it cannot. */
type FieldReader = (cells: readonly string[]) => ImportRow['fields'];

/** @throws {UsageError} a required column is missing, or one is there twice. */
function fieldReader(header: readonly string[], { columns, name, unread }: PetFile): FieldReader {
  const names = header.map(folded);
  const wanted = [...columns].map(([field, column]) => ({
    field,
    column,
    index: names.indexOf(folded(column)),
    count: names.filter((each) => each === folded(column)).length,
  }));
  const wrong = wanted.filter(({ field, column, count }) => {
    // A column that --map names must be there, too.
    const isRequired = REQUIRED.has(field) || column !== field;
    return count > 1 || (count === 0 && isRequired);
  });
  if (wrong.length > 0) {
    const faults = wrong.map(({ column, count }) =>
      count === 0 ? `no column ${column}` : `${count} columns ${column}`,
    );
    const map = wrong.map(({ field }) => `${field}=COLUMN`);
    throw new UsageError(`${name} has ${faults.join(', ')}. Use --map ${map.join(',')}.`);
  }
  const readIndexes = new Set(wanted.map(({ index }) => index));
  for (const [index, column] of header.entries())
    if (!readIndexes.has(index)) addUnread(unread, column);

  return (cells) => {
    // Below a merged cell, columns without a name may hold a status.
    for (const [index, cell] of cells.entries())
      if (names[index] === '' && cell.trim() !== '')
        addUnread(unread, `column ${index + 1}, which has no name`);
    // Spreadsheets omit what is empty at the end of a line.
    const missing = wanted.filter(({ index }) => index >= cells.length);
    const isCut = missing.some(({ field }) => REQUIRED.has(field));
    if (isCut || cells.length > header.length)
      return `The line has ${cells.length} fields, not ${header.length}.`;
    const fields: Partial<Record<keyof Pet, unknown>> = {};
    for (const { field, column, index } of wanted) {
      const text = cells[index] ?? '';
      if (!isValue(field, text) && isValue(field, text.trim()))
        return `${column} has blanks around its value: remove them.`;
      fields[field] = valueOf(field, text);
    }
    return fields;
  };
}

/** The fields that a record must have: those without a default, and `id` where ids are read. */
const REQUIRED = new Set<string>(['id', ...newPetFaults({}).map(({ field }) => field)]);

/** What a cell says of a field: text if the rule of the field accepts text, else an integer. */
function valueOf(field: keyof Pet, text: string): unknown {
  if (text === '') return undefined;
  const isText = field !== 'id' && PET_RULES[field](text) === undefined;
  return isText ? text : (parseInt64(text) ?? text);
}

/** Whether a text is a value of a field. The empty text is none. */
function isValue(field: keyof Pet, text: string): boolean {
  const value = valueOf(field, text);
  return field === 'id' ? typeof value === 'bigint' : PET_RULES[field](value) === undefined;
}
