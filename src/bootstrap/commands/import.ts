import { Option, type Command } from 'commander';
import { createHash } from 'node:crypto';
import { fstatSync, type Stats } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import type { Container } from 'inversify';
import {
  importPets,
  type ImportOptions,
  type ImportReport,
} from '../../application/import-pets.js';
import type { Clock } from '../../application/ports/clock.js';
import type { Store } from '../../application/ports/store.js';
import { isAnimalStoreError } from '../../domain/errors.js';
import type { Pet } from '../../domain/pet.js';
import { isSystemError } from '../service/errors.js';
import { refuse } from '../service/setting-values.js';
import * as cli from './command-line.js';
import { COLUMNS, formatOption, isCsv, type PetFile } from './pet-file.js';
import { readRows } from './read-rows.js';
import { withProgress, withStore } from './with-store.js';
import { TOKENS } from '../service/wiring.js';

interface Options {
  readonly format?: string;
  readonly map?: ReadonlyMap<keyof Pet, string>;
  readonly once?: true;
  readonly keepIds?: true;
  readonly update?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

export function addImportCommand(program: Command, commands: cli.Commands): void {
  const summary =
    'Adds the animals of a CSV or NDJSON file to the store of STORE_URL. Checks the whole file first: if a line is not valid, nothing is stored.';
  const once = 'add each line of the same file at most once, however often it is imported';
  cli
    .addCommand(program, 'import', summary, 'animal-store import animals.csv --once')
    .argument('<FILE>', 'file to read; - for standard input, which ends at its first fault')
    .addOption(formatOption())
    .option(
      '--map <columns>',
      'columns of other names, such as name=Animal,categoryId=Kind',
      columnNames,
    )
    .addOption(new Option('--once', once).conflicts('keepIds'))
    .option(
      '--keep-ids',
      'keep the ids of the file; the store must be empty, and nothing else may use it',
    )
    .addOption(
      new Option(
        '--update',
        'change the animals whose ids the file has; add its lines without an id',
      ).conflicts('keepIds'),
    )
    .option('--dry-run', 'check every line, store nothing')
    .option(...cli.JSON_OPTION)
    .action((file: string, options: Options) =>
      cli.interruptible(commands.io, (signal) => importFile(commands, file, options, signal)),
    );
}

/** The names of columns by field: `name=Animal,categoryId=Kind`. */
function columnNames(text: string): ReadonlyMap<keyof Pet, string> {
  const names = new Map<keyof Pet, string>();
  for (const pair of text.split(',')) {
    // At the first "=": the name of a column may have more.
    const [before, name] = pair.split(/=(.+)/, 2);
    const field = COLUMNS.find((column) => column === before);
    if (field === undefined || !name || names.has(field)) {
      const fields = COLUMNS.join(', ');
      return refuse(`must be columns by field (${fields}), such as name=Animal,categoryId=Kind`);
    }
    names.set(field, name);
  }
  return names;
}

/** A file that is imported. */
interface Import {
  readonly io: cli.HostProcess;
  readonly file: string;
  /** Without it, standard input is read. */
  readonly handle: FileHandle | undefined;
  readonly petFile: PetFile;
  readonly options: Options;
  readonly signal: AbortSignal;
}

async function importFile(
  commands: cli.Commands,
  file: string,
  options: Options,
  signal: AbortSignal,
): Promise<void> {
  const { io } = commands;
  const { format, map, keepIds, update, dryRun } = options;
  const inCsv = isCsv(file, format);
  requireUsable(io, file, options);
  // Opened once: both times the same file is read, whatever gets its name meanwhile.
  await using handle = file === '-' ? undefined : await openRegular(file);
  const fields = COLUMNS.filter((field) => field !== 'id' || keepIds || update);
  const petFile: PetFile = {
    name: handle ? file : 'Standard input',
    inCsv,
    columns: new Map(fields.map((field) => [field, map?.get(field) ?? field])),
    hash: createHash('sha256'),
    unread: new Set(),
  };
  const job: Import = { io, file, handle, petFile, options, signal };

  // Standard input can be read once only.
  const isChecked = handle !== undefined || dryRun;
  // An invalid file creates no store. Updates are checked later: only the store knows which animals there are.
  if (isChecked && !update) {
    const report = await check(job);
    if (dryRun) return printResult(job, report);
  }
  await withStore(commands, dryRun ? 'read' : 'create', async (store, container) => {
    const target = await targetIn(store, container);
    await requireTarget(job, target);
    if (isChecked && update) {
      const report = await check(job, target);
      if (dryRun) return printResult(job, report);
    }
    await printResult(job, await storeRows(job, target), store.location);
  });
}

/** What rows are imported into. */
type Target = Pick<Store, 'pets' | 'transfer' | 'changes'> & { readonly clock: Clock };

async function targetIn({ transfer, changes }: Store, container: Container): Promise<Target> {
  const pets = await container.getAsync(TOKENS.petRepository);
  const clock = await container.getAsync(TOKENS.clock);
  return { pets, transfer, changes, clock };
}

/** @throws {UsageError} the options do not fit each other or the file. */
function requireUsable({ stdin }: cli.HostProcess, file: string, options: Options): void {
  const { map, once, keepIds, update } = options;
  const isInput = file === '-';
  if (isInput && once)
    throw new cli.UsageError('--once reads a file twice, which standard input cannot be.');
  if (map?.has('id') && !keepIds && !update)
    throw new cli.UsageError(
      '--map id needs --keep-ids or --update: without them the store assigns new ids.',
    );
  if (isInput && stdin.fd === 0 && fstatSync(0).isDirectory())
    throw new cli.UsageError('Standard input is a folder.');
}

const SHOWN_FAULTS = 20;

/**
 * Reads the whole file and stores nothing.
 * @throws {Error} lines are not valid. The first of them were shown.
 */
async function check(job: Import, target?: Target): Promise<ImportReport> {
  const report = emptyReport(job);
  let faults = 0;
  const reject = (line: number, reason: string): void => {
    faults += 1;
    if (faults <= SHOWN_FAULTS) cli.note(job.io, `${job.petFile.name}:${line}: ${reason}`);
  };
  await readOnce(job, { ...target, dryRun: true, reject, report });
  if (faults > 0) throw new Error(`Lines that are not valid: ${faults}. Nothing was stored.`);
  return report;
}

/** Reads the file and stores its animals, to the end or to the first line that is not valid. */
async function storeRows(job: Import, target: Target): Promise<ImportReport> {
  const report = emptyReport(job);
  const reject = (line: number, reason: string): never => {
    throw new Error(`${job.petFile.name}:${line}: ${reason}`);
  };
  try {
    await readOnce(job, { ...target, source: sourceOf(job), reject, report });
    return report;
  } catch (error) {
    const code = isAnimalStoreError(error) ? error.code : undefined;
    const isPartStored = code === 'service_unavailable';
    const more = isPartStored ? ' Some of the next lines may be stored, too.' : '';
    cli.note(
      job.io,
      `Stopped after line ${report.line}. Animals added: ${countsOf(report)}.${more}`,
    );
    throw code === 'idempotency_key_reused' ? importedBefore(job) : error;
  }
}

function importedBefore({ petFile }: Import): Error {
  return new Error(`${petFile.name} was imported before, with another --map.`);
}

/** Reads the file from its start to its end. Notes what is not read of it, the first time. */
async function readOnce(
  { io, handle, petFile, options, signal }: Import,
  how: ImportOptions & { readonly report: ImportReport },
): Promise<void> {
  const content = handle?.createReadStream({ start: 0, autoClose: false }) ?? io.stdin;
  const rows = readRows(addAbortSignal(signal, content), petFile);
  const progress = (): string => `line ${how.report.line}`;
  // A file is read by `check`, in a dry run, and then to store its animals. Standard input is read once.
  const isFirstTime = how.dryRun || handle === undefined;
  try {
    await withProgress(io, progress, () => importPets(rows, { ids: idsOf(options), ...how }));
  } catch (cause) {
    signal.throwIfAborted();
    if (isSystemError(cause)) throw new Error(`${petFile.name} cannot be read.`, { cause });
    throw cause;
  } finally {
    if (isFirstTime) noteUnread(io, petFile, options);
  }
}

/** @throws {UsageError} the store cannot do what the options ask for. */
async function requireTarget(
  { options: { keepIds, once, update }, signal }: Import,
  { transfer, pets, changes }: Target,
): Promise<void> {
  if (update && !changes) throw new cli.UsageError('--update needs a store that changes animals.');
  if (once && !pets.addOnce)
    throw new cli.UsageError('--once needs a store that keeps claims. Nothing was written.');
  if (!keepIds) return;
  const survey = await transfer?.survey({ signal });
  if (survey?.pets === 0) return;
  throw new cli.UsageError(
    '--keep-ids needs an empty store that can keep ids. Nothing was written.',
  );
}

function idsOf({ keepIds, update }: Options): ImportOptions['ids'] {
  if (keepIds) return 'keep';
  return update ? 'update' : 'ignore';
}

/** With `--once`, the name of the content that was checked. */
function sourceOf({ options, petFile }: Import): string | undefined {
  if (!options.once) return undefined;
  // A copy: the file is read again.
  const digest = petFile.hash.copy().digest('hex');
  return `import:${digest.slice(0, 32)}`;
}

function emptyReport({ options }: Import): ImportReport {
  return options.update ? { added: 0, changed: 0, line: 0 } : { added: 0, line: 0 };
}

function countsOf({ added, changed }: ImportReport): string {
  return changed === undefined ? `${added}` : `${added}, changes: ${changed}`;
}

const NEW_IDS =
  'The ids of the file are not kept: an import adds animals and never changes one, also where the store has its id. --update changes animals by their ids; --keep-ids restores an export into an empty store.';

function noteUnread(io: cli.HostProcess, { unread }: PetFile, options: Options): void {
  const names = [...unread];
  if (names.length > 0) cli.note(io, `Not read: ${names.join(', ')}.`);
  const hasUnreadIds = names.some((name) => name.toLowerCase() === 'id');
  if (hasUnreadIds && !options.keepIds && !options.update) cli.note(io, NEW_IDS);
}

/** @param to the store; without it the file was only checked. */
async function printResult(
  { io, file, petFile, options }: Import,
  report: ImportReport,
  to?: string,
): Promise<void> {
  const unread = [...petFile.unread];
  const counts = countsOf(report);
  const lines = [
    to === undefined ? `Valid animals: ${counts}. Nothing was stored.` : `Added animals: ${counts}`,
    `  from ${file}`,
  ];
  if (to !== undefined) lines.push(`  to   ${to}`);
  if (unread.length > 0) lines.push(`  not read: ${unread.join(', ')}`);
  const result = { from: file, to, ...report, unread };
  await cli.printResult(io, cli.resultText(options.json, result, lines));
}

/** A FIFO is refused before it is opened: without a writer, that would never end. */
async function openRegular(file: string): Promise<FileHandle> {
  let found: Stats;
  try {
    found = await stat(file);
    if (found.isFile()) return await open(file);
  } catch (cause) {
    throw new cli.UsageError(`${file} cannot be read.`, { cause });
  }
  if (found.isDirectory()) throw new cli.UsageError(`${file} is a folder.`);
  throw new cli.UsageError(`${file} is no regular file: use import - < ${file}.`);
}
