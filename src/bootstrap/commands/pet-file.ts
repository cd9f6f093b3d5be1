import { NEW_PET_FIELDS, type Pet } from '../../domain/pet.js';
import { UsageError } from './command-line.js';
import { oneOf } from '../service/setting-values.js';

/** The endings of files of animals, which are also the values of `--format`. */
const FORMATS = ['csv', 'ndjson', 'jsonl'] as const;

export type Format = (typeof FORMATS)[number];

/** The option `--format`. */
export const FORMAT_OPTION = [
  '--format <format>',
  `${FORMATS.join(', ')} (default: the ending of FILE)`,
  oneOf(...FORMATS),
] as const;

/** @throws {UsageError} the ending is unknown. */
export function isCsv(file: string, name: string, given?: Format): boolean {
  const format = given ?? FORMATS.find((ending) => file.toLowerCase().endsWith(`.${ending}`));
  if (format !== undefined) return format === 'csv';
  if (/\.gz$/i.test(file))
    throw new UsageError(`${name} is compressed: use zcat ${file} | animal-store import - --format csv.`);
  throw new UsageError(`${name} has no ending of a format: use --format ${FORMATS.join(', ')}.`);
}

/** The fields of an animal in a file, in their order. */
export const COLUMNS: ReadonlyArray<keyof Pet> = ['id', ...NEW_PET_FIELDS];

/** A line of CSV (RFC 4180), with quotes only where needed. */
export const csvLine = (cells: ReadonlyArray<string | number | bigint | undefined>): string =>
  `${cells.map((cell) => csvCell(String(cell ?? ''))).join(',')}\n`;

const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
