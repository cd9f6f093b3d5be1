import type { Command } from 'commander';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { importPets, planImport, type LineFault } from '../../application/import-pets.js';
import { TOKENS } from '../service/tokens.js';
import {
  UsageError,
  addCommand,
  fileFault,
  note,
  print,
  type Commands,
  type HostProcess,
} from './command-line.js';
import { csvRows, formatOption, isCsv, ndjsonRows } from './pet-file.js';
import { withStore } from './with-store.js';

interface Options {
  readonly format?: string;
  readonly ignoreOthers?: boolean;
  readonly dryRun?: boolean;
}

export function addImportCommand(program: Command, commands: Commands): void {
  const summary =
    'Imports a CSV or NDJSON file: a line without an id adds an animal, a line with an id ' +
    'changes that animal. Checks the whole file first. Importing the same file again within ' +
    '24 hours adds nothing twice.';
  addCommand(program, 'import', summary, 'animal-store import animals.csv')
    .argument('<FILE>', 'file to read; - for standard input')
    .addOption(formatOption())
    .option('--ignore-others', 'ignore columns that are not of an animal')
    .option('--dry-run', 'check every line, store nothing')
    .action((file: string, options: Options) => importFile(commands, file, options));
}

async function importFile(
  commands: Commands,
  file: string,
  { format, ignoreOthers = false, dryRun = false }: Options,
): Promise<void> {
  const { io, signal } = commands;
  const rowsOf = isCsv(file, format) ? csvRows : ndjsonRows;
  const ignored = new Set<string>();
  const bytes = await bytesOf(io, file);
  const plan = await planImport(rowsOf(textOf(bytes), { ignoreOthers, ignored }), { signal });
  requireNoFaults(io, plan.faults);
  if (plan.toAdd.length + plan.toChange.size === 0) throw new UsageError('FILE has no animals.');
  if (ignored.size > 0) note(io, `Ignored: ${[...ignored].join(', ')}.`);
  const toAdd = plan.toAdd.length;
  // A dry run must not make a store, and needs one only for the animals to change.
  if (dryRun && plan.toChange.size === 0) return print(io, dryRunResult(toAdd, 0));

  await withStore(commands, { mode: dryRun ? 'read' : 'create' }, async (store, container) => {
    const source = `import:${hash('sha256', bytes, 'base64url').slice(0, 22)}`;
    const clock = container.get(TOKENS.clock);
    const report = await importPets(plan, { store, source, dryRun, clock, signal });
    requireNoFaults(io, report.faults);
    const { added, changed } = report;
    const before = toAdd - added;
    const unchanged = plan.toChange.size - changed;
    const result = `Animals added: ${added}, changed: ${changed}, unchanged: ${unchanged}, imported before: ${before}.\n`;
    await print(io, dryRun ? dryRunResult(added, changed) : result);
  });
}

const dryRunResult = (added: number, changed: number): string =>
  `Animals to add: ${added}, to change: ${changed}. Nothing was stored.\n`;

async function bytesOf({ stdin }: HostProcess, file: string): Promise<Buffer> {
  if (file === '-') return buffer(stdin);
  return readFile(file).catch((error: Error) => {
    throw fileFault('FILE cannot be read', error);
  });
}

/** @throws {UsageError} it is not text in UTF-8: a workbook, or what spreadsheets write in other encodings. */
function textOf(bytes: Buffer): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text; // UTF-16 is full of them
  } catch {
    // the same
  }
  throw new UsageError('FILE is not text in UTF-8: save it as CSV UTF-8.');
}

/** How many faults are shown. */
const SHOWN_FAULTS = 20;

/** @throws {UsageError} lines are not valid. The first of them were shown. */
function requireNoFaults(io: HostProcess, faults: readonly LineFault[]): void {
  const sorted = [...faults].sort((one, other) => one.line - other.line);
  for (const { line, message } of sorted.slice(0, SHOWN_FAULTS))
    note(io, `Line ${line}: ${message}`);
  if (faults.length > 0)
    throw new UsageError(`Lines that are not valid: ${faults.length}. Nothing was stored.`);
}
