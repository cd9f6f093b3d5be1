import { Option } from 'commander';
import { extname } from 'node:path';
import { PET_FIELDS, type Pet } from '../../domain/pet.js';
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

/** The field that a column or member stands for. */
export const fieldNamed = (name: string): keyof Pet | undefined => FIELDS.get(folded(name));

/**
 * Checks the names of columns or members.
 * @param ignoreInto collects the unknown names. Default: they are refused
 * @throws {UsageError} a field is there twice, or a name is unknown and refused
 */
export function requireFields(names: readonly string[], ignoreInto?: Set<string>): void {
  const fields = names.map(fieldNamed).filter((field) => field !== undefined);
  const repeated = fields.find((field, index) => fields.indexOf(field) !== index);
  if (repeated !== undefined) throw new UsageError(`${repeated} is there twice.`);
  const unknown = names.filter((name) => fieldNamed(name) === undefined);
  const others = unknown.map((name) => JSON.stringify(name));
  for (const other of others) ignoreInto?.add(other);
  if (ignoreInto || others.length === 0) return;
  const known = `Known are ${COLUMNS.join(', ')}; --ignore-others ignores others.`;
  throw new UsageError(`Unknown columns: ${others.join(', ')}. ${known}`);
}

/** The values of a row by field. */
export function fieldsOf<Value>(
  names: readonly string[],
  values: readonly Value[],
): Partial<Record<keyof Pet, Value | undefined>> {
  const fields: Partial<Record<keyof Pet, Value | undefined>> = {};
  for (const [index, name] of names.entries()) {
    const field = fieldNamed(name);
    if (field !== undefined) fields[field] = values[index];
  }
  return fields;
}
