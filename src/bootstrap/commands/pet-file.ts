import { Option } from 'commander';
import { parse } from 'csv-parse';
import { extname } from 'node:path';
import type { ImportRow, LineFault } from '../../application/import-pets.js';
import { parseInt64 } from '../../domain/int64.js';
import { PET_FIELDS, type Pet } from '../../domain/pet.js';
import { PET_STATUSES } from '../../domain/pet-status.js';
import { parseJson } from '../../json.js';
import { UsageError } from './command-context.js';

/** The values of `--format`, and the endings of file names. */
const FORMATS = ['csv', 'ndjson'] as const;

type Format = (typeof FORMATS)[number];

export const formatOption = (): Option =>
  new Option('--format <format>', `${FORMATS.join(' or ')} (default: the ending of FILE)`);

/** @throws {UsageError} the ending or the given format is unknown */
export function formatOf(file: string, given = extname(file).slice(1).toLowerCase()): Format {
  const format = FORMATS.find((known) => known === given);
  if (format !== undefined) return format;
  throw new UsageError(
    'FILE must end in .csv or .ndjson, or use --format csv|ndjson. Save a workbook as CSV UTF-8.',
  );
}

/** The columns of a file, in their order. */
export const COLUMNS: ReadonlyArray<keyof Pet> = ['id', ...PET_FIELDS];

/** Ignores case, blanks, `_` and `-`: spreadsheets and people write the same name differently. */
const folded = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/g, '');

const FIELDS = new Map(COLUMNS.map((column) => [folded(column), column]));

/**
 * The values of a row by field.
 * @param names the name of the column or member of each value
 * @param ignored collects the unknown names. Default: they are refused
 * @throws {UsageError} a name is there twice, or is unknown and refused
 */
function fieldsOf<Value>(
  names: readonly string[],
  values: readonly Value[],
  ignored?: Set<string>,
): Partial<Record<keyof Pet, Value | undefined>> {
  const fields: Partial<Record<keyof Pet, Value | undefined>> = {};
  const others: string[] = [];
  for (const [index, name] of names.entries()) {
    const field = FIELDS.get(folded(name));
    if (field === undefined) others.push(JSON.stringify(name));
    else if (field in fields) throw new UsageError(`${field} is there twice.`);
    else fields[field] = values[index];
  }
  for (const other of others) ignored?.add(other);
  if (others.length === 0 || ignored) return fields;
  const known = `Known are ${COLUMNS.join(', ')}; --ignore-others ignores others.`;
  throw new UsageError(`Unknown columns: ${others.join(', ')}. ${known}`);
}

interface CsvRecord {
  readonly cells: readonly string[];
  /** The line on which it begins. */
  readonly line: number;
}

/**
 * Reads the records of a CSV file (RFC 4180). Its first line names the columns, in any order, and decides the
 * delimiter: comma, semicolon or tab. A record has as many cells as the first line.
 */
export async function* csvRows(
  text: string,
  ignored?: Set<string>,
): AsyncGenerator<ImportRow | LineFault> {
  const records = recordsOf(text);
  const header = await records.next();
  if (header.done) return;
  const columns = header.value.cells;
  fieldsOf(columns, columns, ignored); // refuses unknown and repeated names before any record is read
  // An ignored column behind it does no harm: a line that lacks a cell is refused.
  const lastKnown = columns.findLast((name) => FIELDS.has(folded(name))) ?? '';
  requireWhole(text, FIELDS.get(folded(lastKnown)));
  for await (const { cells, line } of records) {
    if (cells.length !== columns.length) {
      yield { line, message: `The line has ${cells.length} cells, not ${columns.length}.` };
      continue;
    }
    const { id, name, categoryId, status } = fieldsOf(columns, cells, ignored);
    yield {
      line,
      fields: {
        id: integerIn(id),
        name: name || undefined, // not trimmed
        categoryId: integerIn(categoryId),
        status: status?.trim() || undefined,
      },
    };
  }
}

/** @throws {UsageError} it is not CSV: a quoted cell does not end, for example */
async function* recordsOf(text: string): AsyncGenerator<CsvRecord> {
  const [firstLine = ''] = text.split(/[\r\n]/, 1);
  const records: AsyncIterable<{ record: string[]; info: { lines: number } }> = parse(text, {
    delimiter: /[,;\t]/.exec(firstLine)?.[0] ?? ',',
    record_delimiter: ['\r\n', '\n', '\r'],
    info: true,
    relax_column_count: true,
    skip_records_with_empty_values: true,
  });
  let doubled = 0; // csv-parse counts a \r\n within a cell as two lines
  try {
    for await (const { record, info } of records) {
      const breaks = record.join('').match(/\r\n?|\n/g) ?? [];
      doubled += breaks.filter((lineBreak) => lineBreak === '\r\n').length;
      // `info.lines` is the line on which the record ends.
      yield { cells: record, line: info.lines - doubled - breaks.length };
    }
  } catch (error) {
    throw new UsageError(`FILE is not valid CSV: ${(error as Error).message}.`);
  }
}

/** A last cell that is a whole status. One that was cut off never matches: no status is the beginning of another. */
const WHOLE_STATUS = new RegExp(`[,;\\t] *"?(?:${PET_STATUSES.join('|')})"? *$`);

/** @throws {UsageError} the last line may be cut off within its last cell: it would import a wrong animal. */
function requireWhole(text: string, lastColumn: keyof Pet | undefined): void {
  if (/[\r\n]$/.test(text) || (lastColumn === 'status' && WHOLE_STATUS.test(text))) return;
  throw new UsageError('The last line may be cut off. If it is not, end it with a line end.');
}

/** Text that is no integer stays as it is: the domain names the fault. */
function integerIn(cell = ''): unknown {
  const text = cell.trim();
  return text === '' ? undefined : (parseInt64(text) ?? text);
}

/**
 * Reads each line that is not blank as a JSON object with the members of an animal. A member that is null has no value.
 */
export async function* ndjsonRows(
  text: string,
  ignored?: Set<string>,
): AsyncGenerator<ImportRow | LineFault> {
  for (const [index, content] of text.split(/\r\n|\r|\n/).entries()) {
    if (content.trim() === '') continue;
    const line = index + 1;
    try {
      const value = parseJson(content);
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw new UsageError('The line is not a JSON object.');
      const values = Object.values(value).map((member: unknown) => member ?? undefined);
      yield { line, fields: fieldsOf(Object.keys(value), values, ignored) };
    } catch (error) {
      yield { line, message: (error as Error).message };
    }
  }
}
