import { Option, type Command } from 'commander';
import { createHash } from 'node:crypto';
import { fstatSync } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import * as importing from '../../application/import-pets.js';
import { isAnimalStoreError } from '../../domain/errors.js';
import { refuse } from '../service/setting-values.js';
import * as cli from './command-line.js';
import { COLUMNS, formatOption, isCsv, readRows } from './pet-file.js';
import { withProgress, withStore } from './with-store.js';

interface Options {
  readonly format?: string;
  readonly map?: ReadonlyMap<string, string>;
  readonly once?: true;
  readonly keepIds?: boolean;
  readonly dryRun?: true;
  readonly json?: true;
}

/** Adds `import`. */
export function addImportCommand(program: Command, commands: cli.Commands): void {
  const summary =
    'Adds the animals of a CSV or NDJSON file to the store of STORE_URL. Checks the whole file first: if a line is not valid, nothing is stored.';
  const once = 'add each line of the same file at most once, however often it is imported';
  cli
    .addCommand(program, 'import', summary, 'animal-store import animals.csv --once')
    .argument('<FILE>', 'file to read; - for standard input, which ends at its first fault')
    .addOption(formatOption())
    .option('--map <columns>', 'columns of other names, such as name=Animal,categoryId=Kind', columnNames)
    .addOption(new Option('--once', once).conflicts('keepIds'))
    .option('--keep-ids', 'keep the ids of the file; the store must be empty, and nothing else may use it')
    .option('--dry-run', 'check every line, store nothing')
    .option(...cli.JSON_OPTION)
    .action((file: string, options: Options) =>
      cli.interruptible(commands.io, (signal) => importFile(commands, file, options, signal)),
    );
}

/** The names of columns by field: `name=Animal,categoryId=Kind`. */
function columnNames(text: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const pair of text.split(',')) {
    const [field = '', name] = pair.split(/=(.+)/, 2);
    if (!name || names.has(field) || !COLUMNS.some((each) => each === field))
      refuse(`must be columns by field (${COLUMNS.join(', ')}), such as name=Animal,categoryId=Kind`);
    names.set(field, name);
  }
  return names;
}

/** How many faults of a file are shown. */
const SHOWN = 20;

async function importFile(
  commands: cli.Commands,
  file: string,
  { format, map, once, keepIds = false, dryRun, json }: Options,
  signal: AbortSignal,
): Promise<void> {
  const { io } = commands;
  const name = file === '-' ? 'Standard input' : file;
  const fields = COLUMNS.filter((field) => keepIds || field !== 'id');
  const columns = new Map(fields.map((field) => [field, map?.get(field) ?? field]));
  const inCsv = isCsv(file, name, format);
  const handle = await openFile(file, io);
  if (once && !handle) throw new cli.UsageError('--once reads a file twice, which standard input cannot be.');

  /** Reads the file once. */
  const pass = async (store: importing.StorePets, report: importing.ImportReport, reject: Reject) => {
    const stream = addAbortSignal(signal, handle?.createReadStream(FROM_START) ?? io.stdin);
    const rows = readRows(stream, name, columns, inCsv);
    const progress = (): string => `${report.added + report.present} animals`;
    try {
      await withProgress(io, progress, () => importing.importPets(rows, store, report, keepIds, reject));
    } catch (error) {
      signal.throwIfAborted();
      throw Object(error).syscall === undefined
        ? error
        : new Error(`${name} cannot be read.`, { cause: error });
    }
  };

  const stop: Reject = (line, reason) => {
    throw new Error(`${name}:${line}: ${reason}`);
  };

  try {
    const valid = { added: 0, present: 0, line: 0 };
    let faults = 0;
    const count: importing.StorePets = async (pets) => void (valid.added += pets.length);
    const show: Reject = (line, reason) => {
      faults += 1;
      if (faults <= SHOWN) cli.note(io, `${name}:${line}: ${reason}`);
    };
    if (handle || dryRun) await pass(count, valid, show);
    if (faults > 0) throw new Error(`Lines that are not valid: ${faults}. Nothing was stored.`);
    if (dryRun) {
      const text = `Valid animals: ${valid.added}. Nothing was stored.\n  from ${file}\n`;
      await cli.print(io.stdout, cli.resultText(json, { from: file, ...valid }, text));
      return;
    }
    const inMemory = 'A store in memory would be gone after the import.';
    await withStore(commands, inMemory, {}, async ({ transfer, location: to }, container) => {
      const { TOKENS } = await import('../service/container.js');
      const pets = await container.getAsync(TOKENS.petRepository);
      const clock = await container.getAsync(TOKENS.clock);
      const content = once && handle && (await hashOf(handle, signal));
      if (keepIds && (await transfer?.survey({ signal }))?.pets !== 0)
        throw new Error('--keep-ids needs an empty store that can keep ids. Nothing was written.');
      const addOrKeep =
        keepIds && transfer ? importing.keepPets(transfer) : importing.addPets(pets, clock, content);
      const report = { added: 0, present: 0, line: 0 };
      await pass(addOrKeep, report, stop).catch((error: unknown) => {
        const code = isAnimalStoreError(error) ? error.code : undefined;
        const more = code === 'service_unavailable' ? ' Some of the next lines may be stored, too.' : '';
        cli.note(io, `Stopped after line ${report.line}. Animals added: ${report.added}.${more}`);
        if (code !== 'idempotency_key_reused') throw error;
        throw new Error(`${name} was imported before, with another --map.`);
      });
      const before = report.present > 0 ? `Added before: ${report.present}\n` : '';
      const text = `Added animals: ${report.added}\n${before}  from ${file}\n  to   ${to}\n`;
      await cli.print(io.stdout, cli.resultText(json, { from: file, to, ...report }, text));
    });
  } finally {
    await handle?.close();
  }
}

type Reject = Parameters<typeof importing.importPets>[4];

/** A file is read several times. */
const FROM_START = { start: 0, autoClose: false };

/** Opens a regular file. A FIFO is not opened: without a writer, that would never end. */
async function openFile(file: string, { stdin }: cli.HostProcess): Promise<FileHandle | undefined> {
  if (file === '-') {
    if (stdin.fd === 0 && fstatSync(0).isDirectory()) throw new cli.UsageError('Standard input is a folder.');
    return undefined;
  }
  try {
    if ((await stat(file)).isFile()) return await open(file);
  } catch (cause) {
    throw new cli.UsageError(`${file} cannot be read.`, { cause });
  }
  throw new cli.UsageError(`${file} is no regular file: use import - < ${file}.`);
}

/** Names the content of a file, for `--once`. */
async function hashOf(handle: FileHandle, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of handle.createReadStream(FROM_START)) {
    signal.throwIfAborted();
    hash.update(chunk as Buffer);
  }
  return `import:${hash.digest('hex').slice(0, 32)}`;
}
