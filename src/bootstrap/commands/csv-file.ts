import { parse } from 'csv-parse';
import type { ImportRow, LineFault } from '../../application/import-pets.js';
import { parseInt64 } from '../../domain/int64.js';
import type { Pet } from '../../domain/pet.js';
import { PET_STATUSES } from '../../domain/pet-status.js';
import { UsageError } from './command-context.js';
import { COLUMNS, fieldNamed, fieldsOf, requireFields } from './pet-file.js';

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
  ignoreInto?: Set<string>,
): AsyncGenerator<ImportRow | LineFault> {
  const records = recordsOf(text);
  const header = await records.next();
  if (header.done) return;
  const columns = header.value.cells;
  requireFields(columns, ignoreInto);
  requireWhole(text, columns);
  for await (const { cells, line } of records) {
    if (cells.length !== columns.length) {
      yield { line, message: `The line has ${cells.length} cells, not ${columns.length}.` };
      continue;
    }
    const { id, name, categoryId, status } = fieldsOf(columns, cells);
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
  const records: AsyncIterable<string[]> = parse(text, {
    delimiter: /[,;\t]/.exec(firstLine)?.[0] ?? ',',
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
  });
  let line = 1; // counted here: csv-parse counts a \r\n within a cell as two lines
  try {
    for await (const cells of records) {
      if (cells.some((cell) => cell.trim() !== '')) yield { cells, line };
      const breaks = cells.join(' ').match(/\r\n?|\n/g) ?? [];
      line += 1 + breaks.length;
    }
  } catch (error) {
    throw new UsageError(`FILE is not valid CSV: ${(error as Error).message}.`);
  }
}

/** A last cell that is a whole status. One that was cut off never matches: no status is the beginning of another. */
const WHOLE_STATUS = new RegExp(`[,;\\t] *"?(?:${PET_STATUSES.join('|')})"? *$`);

/** @throws {UsageError} the last line may be cut off within its last cell: it would import a wrong animal. */
function requireWhole(text: string, columns: readonly string[]): void {
  const endsInStatus = fieldNamed(columns.at(-1) ?? '') === 'status' && WHOLE_STATUS.test(text);
  if (endsInStatus || /[\r\n]$/.test(text)) return;
  throw new UsageError('The last line may be cut off. If it is not, add a line break.');
}

/** Text that is no integer stays as it is: the domain names the fault. */
function integerIn(cell = ''): unknown {
  const text = cell.trim();
  return text === '' ? undefined : (parseInt64(text) ?? text);
}

/** An animal as a line of a CSV file. */
export const csvLineOf = (pet: Pet): string =>
  csvLine(COLUMNS.map((column) => String(pet[column])));

export const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\n`;

const csvCell = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
