import type { Command } from 'commander';
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  importPets,
  planImport,
  type ImportPlan,
  type ImportReport,
  type LineFault,
} from '../../application/import-pets.js';
import { TOKENS } from '../service/tokens.js';
import {
  UsageError,
  addCommand,
  fileError,
  note,
  print,
  type CommandContext,
  type HostProcess,
} from './command-context.js';
import { csvRows } from './csv-file.js';
import { ndjsonRows } from './ndjson-file.js';
import { formatOf, formatOption } from './pet-file.js';
import { withStore } from './with-store.js';

interface ImportFlags {
  readonly format?: string;
  readonly ignoreOthers?: boolean;
  readonly dryRun?: boolean;
}

export function addImportCommand(program: Command, context: CommandContext): void {
  const summary =
    'Imports a CSV or NDJSON file: a line without an id adds an animal, a line with an id ' +
    'changes that animal. Checks the whole file first. Importing the same file again within ' +
    '24 hours adds nothing twice.';
  addCommand(program, 'import', summary, 'animal-store import animals.csv')
    .argument('<FILE>', 'file to read; - for standard input')
    .addOption(formatOption())
    .option('--ignore-others', 'ignore unknown columns')
    .option('--dry-run', 'check every line, store nothing')
    .action((file: string, flags: ImportFlags) => importFile(context, file, flags));
}

async function importFile(
  context: CommandContext,
  file: string,
  { format, ignoreOthers, dryRun = false }: ImportFlags,
): Promise<void> {
  const { io, signal } = context;
  const rowsOf = formatOf(file, format) === 'csv' ? csvRows : ndjsonRows;
  const ignored = ignoreOthers ? new Set<string>() : undefined; // filled while the rows are read
  const bytes = await bytesOf(context, file);
  const plan = await planImport(rowsOf(textOf(bytes), ignored), { signal });
  refuseFaults(io, plan.faults);
  if (plan.toAdd.length + plan.toChange.size === 0) throw new UsageError('FILE has no animals.');
  if (ignored?.size) note(io, `Ignored: ${[...ignored].join(', ')}.`);

  // 132 bits: enough to rule out collisions.
  const source = `import:${hash('sha256', bytes, 'base64url').slice(0, 22)}`;
  // A dry run needs a store only to look up the animals to change, and only added animals may create one.
  if (dryRun && plan.toChange.size === 0)
    return print(io, wouldImport({ added: plan.toAdd.length, changed: 0 }));
  const writeMode = plan.toAdd.length > 0 ? 'create' : 'existing';
  const mode = dryRun ? 'read' : writeMode;
  const report = await withStore(context, { mode }, (store, container) => {
    const clock = container.get(TOKENS.clock);
    return importPets(plan, { store, source, dryRun, clock, signal });
  });
  refuseFaults(io, report.faults);
  await print(io, dryRun ? wouldImport(report) : imported(plan, report));
}

const wouldImport = ({ added, changed }: Pick<ImportReport, 'added' | 'changed'>): string =>
  `Animals to add: ${added}, to change: ${changed}. Nothing was stored.\n`;

function imported({ toAdd, toChange }: ImportPlan, { added, changed }: ImportReport): string {
  const unchanged = toChange.size - changed;
  const importedBefore = toAdd.length - added;
  return `Animals added: ${added}, changed: ${changed}, unchanged: ${unchanged}, imported before: ${importedBefore}.\n`;
}

async function bytesOf({ io, signal }: CommandContext, file: string): Promise<Buffer> {
  if (file === '-') return buffer(addAbortSignal(signal, io.stdin));
  return readFile(file).catch((error: Error) => {
    throw fileError('FILE cannot be read', error);
  });
}

/** @throws {UsageError} it is not text in UTF-8, but a workbook, for example */
function textOf(bytes: Buffer): string {
  // UTF-16 can pass as UTF-8, but has zeros.
  if (isUtf8(bytes) && !bytes.includes(0)) return new TextDecoder().decode(bytes);
  throw new UsageError('FILE is not text in UTF-8: save it as CSV UTF-8.');
}

const SHOWN_FAULTS = 20;

/** Shows the first `SHOWN_FAULTS` by line. @throws {UsageError} there are any */
function refuseFaults(io: HostProcess, faults: readonly LineFault[]): void {
  const sorted = faults.toSorted((one, other) => one.line - other.line);
  for (const { line, message } of sorted.slice(0, SHOWN_FAULTS))
    note(io, `Line ${line}: ${message}`);
  if (faults.length > 0)
    throw new UsageError(`Lines that are not valid: ${faults.length}. Nothing was stored.`);
}
