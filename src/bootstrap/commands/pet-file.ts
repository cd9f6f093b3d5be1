import { Option } from 'commander';
import type { Hash } from 'node:crypto';
import { extname } from 'node:path';
import { PET_FIELDS, type Pet } from '../../domain/pet.js';
import { UsageError, printable } from './command-line.js';

/** The endings of files of animals, which are also the values of `--format`. */
const FORMATS = ['csv', 'ndjson', 'jsonl'];

export function formatOption(): Option {
  return new Option('--format <format>', 'default: the ending of FILE').choices(FORMATS);
}

/** @throws {UsageError} the ending is unknown. */
export function isCsv(file: string, format = extname(file).slice(1).toLowerCase()): boolean {
  if (FORMATS.includes(format)) return format === 'csv';
  throw new UsageError(`${file} has no ending of a format: use --format ${FORMATS.join(', ')}.`);
}

/** The fields of an animal in a file, in their order. */
export const COLUMNS: ReadonlyArray<keyof Pet> = ['id', ...PET_FIELDS];

/** A line of CSV (RFC 4180), with quotes only where needed. */
export function csvLine(cells: ReadonlyArray<string | bigint | undefined>): string {
  return `${cells.map((cell) => csvCell(String(cell ?? ''))).join(',')}\n`;
}

function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A file to read. */
export interface PetFile {
  /** For messages. */
  readonly name: string;
  readonly inCsv: boolean;
  /** The fields to read, with the names of their columns or members. Case and blanks around names do not count. */
  readonly columns: ReadonlyMap<keyof Pet, string>;
  /** Gets the bytes of the file. */
  readonly hash: Hash;
  /** Gets the names of the columns or members that are not read: `id`, and of others the first hundred. */
  readonly unread: Set<string>;
}

/** The longest line, its end included, and the longest record. */
export const MAX_LENGTH = 1024 * 1024;

/** The name of a column or member as it is compared: spreadsheets and people write the same one differently. */
export const folded = (name: string): string => name.trim().toLowerCase();

/** A name from a file as it may be shown. */
export function shownName(name: string): string {
  return printable(name.slice(0, 100));
}

/** Notes that a column or member is not read. */
export function addUnread(unread: Set<string>, name: string): void {
  const shown = shownName(name.trim());
  const hasPlace = unread.size < 100 || folded(name) === 'id';
  if (shown !== '' && hasPlace) unread.add(shown);
}
